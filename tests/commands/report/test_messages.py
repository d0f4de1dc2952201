"""Messages on the screen of `jsctl report --watch`: of a stream, one of them, and what a consumer gave up."""

import asyncio
import base64
import random
import re
from functools import partial
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client

from jsctl.contexts.settings import Settings
from jsctl.errors import NotFound
from jsctl.jetstream.api import Api
from jsctl.monitor.report import messages as report_messages
from jsctl.monitor.report.messages import MessageReader, fetch_message_page, fetch_previous
from jsctl.nats.connection import Connection
from jsctl.views.report.message_pages import describe_delivery
from tests.support import dead_letters, js
from tests.support.emulator import Watched
from tests.support.run import Cli


@pytest.mark.slow
def test_from_a_stream_to_a_message(cli: Cli, url: str) -> None:
    """The newest first, as they arrive; decoded; found; what is beside a message, and who has had it."""
    js.stream(url, "ORDERS", "orders.>")
    js.stream(url, "IDLE", "idle")
    js.publish_all(url, [(f"orders.{n}", b'{"order": %d}' % n) for n in range(1, 60)])
    for name, subject in (("work", "orders.>"), ("other", "orders.x.>")):
        config = {"durable_name": name, "ack_policy": "explicit", "filter_subject": subject}
        js.ask(url, f"CONSUMER.CREATE.ORDERS.{name}", {"stream_name": "ORDERS", "config": config})
    watched = Watched(cli.terminal("report --watch 200ms", columns=80, rows=24))
    watched.until("2 Con")
    watched.press("/ORD\rm")
    watched.until(lambda text: re.search(r"59 .* orders.59 .*13 B.*\{\"order\":", text))
    assert "orders.30" not in watched.screen.text
    js.publish(url, "orders.new", b"\x82\xa5order\x3c\xa1t\xa1x")
    watched.until(lambda text: re.search(r"60 .* orders.new .*\{\"order\":\s?60", text))
    watched.press("[")
    watched.until(lambda text: "orders.30" in text and "orders.59" not in text)
    watched.press("]")
    watched.until("orders.59")
    watched.press("Forder < 3\r")
    watched.until(lambda text: "60 messages searched" in text and "orders.3 " not in text)
    watched.press("Forder <\r")
    watched.until("the expression is incomplete")
    watched.press("\x1b")
    watched.until("orders.2 ")
    watched.press("\r")
    text = watched.until("Message 2 of ORDERS on orders.2")
    assert "previous: 1 on orders.1, next: 3 on orders.3" in text
    watched.press("G")
    watched.until(lambda text: re.search(r"work +│ not delivered yet", text))
    watched.until(lambda text: re.search(r"other +│ not on its subjects", text))
    watched.press("]")
    watched.until("Message 3 of ORDERS")
    watched.press("y")
    watched.until("jsctl stream get ORDERS 3")
    watched.press("?")
    watched.until("show the previous message")
    watched.press("?\x1b\x1b")
    watched.until("/ORD")  # the filter of the streams is theirs
    js.ask(url, "STREAM.DELETE.ORDERS")
    watched.press("q")
    assert watched.end() == 0
    assert "Traceback" not in watched.written


@pytest.mark.slow
def test_dead_letters_of_a_consumer(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", b"poison")
    cli("consumer add ORDERS work --pull --max-deliver 1 --wait 100ms --defaults", status=0)
    cli("consumer next ORDERS work --no-ack", status=0)
    watched = Watched(cli.terminal("report --watch 200ms --part consumers"))
    watched.until(lambda text: re.search(r"ORDERS +work .*1 given up", text))
    watched.press("\r")
    watched.until("dead letters")
    watched.press("d")
    watched.until(lambda text: "1 dead letter of ORDERS > work" in text and "poison" in text)
    watched.press("\r")
    watched.until("Message 1 of ORDERS on orders.new")
    watched.press("\x1b\x1b\x1b")
    watched.until(lambda text: "Unacked" in text)
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
def test_a_recording_has_no_messages(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli(f"report --record {tmp_path}/rounds --count 1", status=0)
    watched = Watched(cli.terminal(f"report --replay {tmp_path}/rounds"))
    watched.until("ORDERS")
    watched.press("m?")
    assert "messages of the selected" not in watched.until("Keys.")
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_gaps(url: str, seed: int) -> None:
    """Lists and neighbors are those that are stored, wherever messages are gone."""
    chance = random.Random(seed)
    starts = [chance.randint(1, 300) for _ in range(chance.randint(0, 6))]
    gone = {n for start in starts for n in range(start, min(start + chance.randint(1, 80), 301))}
    count = chance.randint(1, 40)
    js.stream(url, "S", "s.>")
    js.publish_all(url, [("s.x", b"%d" % n) for n in range(1, 301)])
    stored = sorted(set(range(1, 301)) - gone)

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        try:
            api = Api(connection)
            delete = partial(api.call, "STREAM.MSG.DELETE.S")
            await asyncio.gather(*(delete({"seq": one, "no_erase": True}) for one in gone))
            before, found = 0, list[int]()
            while True:
                page = await MessageReader("S", before).fetch(api, count)
                found += [message.sequence for message in page.messages]
                assert len(page.messages) <= count >= page.read
                if not page.first:
                    break
                before = page.first
            assert found == stored[::-1]
            for at in range(0, len(stored), 37):
                previous = await fetch_previous(api, "S", stored[at], stored[0])
                assert (previous.sequence if previous else 0) == (stored[at - 1] if at else 0)
                shown = await fetch_message_page(api, "S", stored[at])
                after = stored[at + 1] if at + 1 < len(stored) else 0
                assert (shown.next.sequence if shown.next else 0) == after
        finally:
            await connection.close()

    asyncio.run(work())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_what_is_said_of_who_has_had_a_message_is_true(url: str, seed: int) -> None:
    """Whatever was delivered, acknowledged, terminated and deleted; by all policies, with filters."""
    chance = random.Random(seed)
    js.stream(url, "S", "s.>")
    js.publish_all(url, [(f"s.{n % 3}", b"x") for n in range(1, 31)])
    for number in chance.sample(range(1, 31), 5):
        js.ask(url, "STREAM.MSG.DELETE.S", {"seq": number})

    async def consume(client: Client, name: str, policy: str, most: int) -> tuple[set[int], set[int]]:
        """Return what was delivered, and what was not acknowledged."""
        subscription = await client.jetstream().pull_subscribe_bind(consumer=name, stream="S")
        had = await subscription.fetch(most, timeout=0.2)
        delivered = [message.metadata.sequence.stream for message in had]
        waiting = set(delivered)
        for message in had if policy != "none" else ():
            number = message.metadata.sequence.stream
            if chance.random() < 0.4:
                await message.ack_sync()
                waiting -= {number} if policy == "explicit" else {one for one in waiting if one <= number}
            elif policy == "explicit" and chance.random() < 0.2:
                await message.term()
                waiting.discard(number)
        await client.flush()
        return {*delivered}, waiting

    async def work() -> None:
        client, connection = await nats.connect(url), await Connection.open(Settings(url=url))
        try:
            for number in range(8):
                name, policy = f"C{number}", ("explicit", "all", "none")[number % 3]
                start, subject = chance.choice([1, 1, 12]), chance.choice(["s.>", "s.1"])
                config = {
                    "ack_policy": policy,
                    "filter_subject": subject,
                    "ack_wait": 10**11,
                    "max_deliver": -1,
                }
                config |= {"deliver_policy": "by_start_sequence", "opt_start_seq": start}
                await asyncio.to_thread(dead_letters.consumer, url, "S", name, **config)
                had, waiting = await consume(client, name, policy, chance.randint(1, 40))
                info = await asyncio.to_thread(js.ask, url, f"CONSUMER.INFO.S.{name}")
                for message in (await MessageReader("S", 0).fetch(Api(connection), 40)).messages:
                    at, said = message.sequence, describe_delivery(info, message)
                    if subject == "s.1" and message.subject != "s.1":
                        truth = said == "not on its subjects"
                    elif at < start:
                        truth = said == "stored before its start"
                    elif at not in had:
                        truth = said == "not delivered yet"
                    elif policy == "none":
                        truth = said == "delivered; nothing is acknowledged"
                    elif vague := re.fullmatch(r"delivered; (\d+) of those after (\d+) are not .*", said):
                        truth = len(waiting) == int(vague[1]) and min(waiting) > int(vague[2])
                    else:
                        known = (
                            "delivered, not " if at in waiting else "delivered and acknowledged, or given up"
                        )
                        truth = said.startswith(known)
                    assert truth, (config, at, said, sorted(had), sorted(waiting))
        finally:
            await connection.close()
            await client.close()

    asyncio.run(work())


def test_a_message_is_read_again_only_where_something_changed(url: str) -> None:
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a", count=4)

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        try:
            api = Api(connection)
            fetch = partial(fetch_message_page, api, "S")
            inner, last = await fetch(2), await fetch(4)
            await asyncio.to_thread(js.publish, url, "s.a")
            again = await fetch(2, inner)
            assert again.message is inner.message and again.previous is inner.previous
            assert again.info["state"]["last_seq"] == 5
            newer = await fetch(4, last)
            assert last.next is None and newer.next is not None and newer.next.sequence == 5
            await asyncio.to_thread(js.ask, url, "STREAM.MSG.DELETE.S", {"seq": 1})
            assert (await fetch(2, again)).previous is None
            await asyncio.to_thread(js.ask, url, "STREAM.MSG.DELETE.S", {"seq": 3})
            shown = (await fetch(2, again)).next
            assert shown is not None and shown.sequence == 4
            await asyncio.to_thread(js.ask, url, "STREAM.MSG.DELETE.S", {"seq": 2})
            with pytest.raises(NotFound):
                await fetch(2, again)
        finally:
            await connection.close()

    asyncio.run(work())


@pytest.mark.slow
def test_the_mouse_and_the_clipboard(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.stream(url, "RETURNS", "returns.>")
    watched = Watched(cli.terminal("report --watch 200ms", columns=80, rows=24))
    text = watched.until("  RETURNS")
    line = next(number for number, one in enumerate(text.splitlines(), 1) if one.startswith("  RETURNS"))
    watched.press(f"\x1b[<0;5;{line}M\x1b[<0;5;{line}m")
    watched.press("y")
    watched.until("jsctl stream info RETURNS")
    assert f"\x1b]52;c;{base64.b64encode(b'jsctl stream info RETURNS').decode()}\x07" in watched.written
    watched.press("\x1b[<64;5;5M")
    watched.press(f"\x1b[<0;5;{line}M\x1b[<0;5;{line}m" * 2)
    watched.until("Information for Stream RETURNS")
    watched.press("q")
    assert watched.end() == 0
    assert "\x1b[?1000l" in watched.written, "the mouse is given back"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_page_is_bounded_by_bytes(url: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages follow each other without a gap, and one that is followed has the newest messages."""
    monkeypatch.setattr(report_messages, "MAX_BYTES", limit := 4000)
    chance = random.Random(seed)
    js.stream(url, "S", "s")
    sizes = [chance.choice((0, 10, 900, 5000)) for _ in range(60)]
    js.publish_all(url, [("s", b"x" * size) for size in sizes[:40]])

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        try:
            api = Api(connection)
            before, found = 0, list[int]()
            while True:
                page = await MessageReader("S", before).fetch(api, 30)
                found += [message.sequence for message in page.messages]
                assert sum(len(message.data) for message in page.messages[:-1]) < limit
                if not page.first:
                    break
                before = page.first
            assert found == [*range(40, 0, -1)]
            followed, stored = MessageReader("S", 0), 40
            for last in range(40, 61, chance.randint(1, 10)):
                more = [("s", b"x" * size) for size in sizes[stored:last]]
                await asyncio.to_thread(js.publish_all, url, more)
                stored = last
                page = await followed.fetch(api, 30)
                shown = [message.sequence for message in page.messages]
                assert shown == [*range(last, last - len(shown), -1)], "the newest, without a gap"
                assert sum(len(message.data) for message in page.messages[:-1]) < limit
        finally:
            await connection.close()

    asyncio.run(work())
