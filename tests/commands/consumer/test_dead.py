"""`consumer dead` on a real server."""

import asyncio
import json
import random
from contextlib import suppress
from pathlib import Path

import nats
import pytest

from tests.support import js
from tests.support.dead_letters import consumer, work_off
from tests.support.run import Cli
from tests.support.tables import read_table
from tests.support.waiting import wait_for


def sequences(cli: Cli, stream: str = "W", name: str = "C") -> list[int]:
    return [letter["sequence"] for letter in cli(f"consumer dead {stream} {name} --json", status=0).json]


@pytest.mark.slow
@pytest.mark.parametrize("retention", ["limits", "workqueue", "interest"])
@pytest.mark.parametrize("storage", ["file", "memory"])
def test_forty_among_ten_thousand(cli: Cli, url: str, retention: str, storage: str) -> None:
    count, dead = (10_000, 40) if storage == "file" else (500, 40)
    failing = sorted(random.Random(retention).sample(range(1, count), dead))
    js.stream(url, "W", "w.*", retention=retention, storage=storage)
    consumer(url, "W", max_deliver=random.Random(retention).choice([1, 2]))
    js.publish_all(url, [(f"w.{number % 7}", str(number).encode()) for number in range(1, count + 1)])
    work_off(url, "W", failing=failing)
    js.publish(url, "w.0")
    cli("consumer next W C", status=0)
    info = js.ask(url, "CONSUMER.INFO.W.C")
    assert info["ack_floor"]["stream_seq"] == count + 1  # it has passed them all
    letters = cli("consumer dead W C --json", status=0).json
    assert [letter["sequence"] for letter in letters] == failing
    assert {letter["reason"] for letter in letters} == {"max_deliver"}
    assert {letter["deliveries"] for letter in letters} == {info["config"]["max_deliver"]}
    assert [letter["subject"] for letter in letters] == [f"w.{number % 7}" for number in failing]
    causes = {cause["code"]: cause for cause in cli("consumer why W C --json", status=0).json["causes"]}
    assert causes["GIVEN_UP"]["says"].startswith("40 messages were given up")
    assert causes["GIVEN_UP"]["help"] == "jsctl consumer dead W C"
    # What waits for an acknowledgement is not dead, nor what was acknowledged late.
    js.publish(url, "w.0", count=3)
    cli("consumer edit W C --wait 1h -f", status=0)
    cli("consumer next W C --count 2 --no-ack", status=0)
    assert sequences(cli) == failing


@pytest.mark.slow
@pytest.mark.parametrize("retention", ["limits", "interest"])
@pytest.mark.parametrize("max_deliver", [1, 3])
def test_acknowledgements_for_all_before(cli: Cli, url: str, retention: str, max_deliver: int) -> None:
    """The server stores late that a message was given up after a later delivery than the first."""
    js.stream(url, "W", "w.*", retention=retention)
    consumer(url, "W", ack_policy="all", max_deliver=max_deliver)
    js.publish(url, "w.a", count=10)
    cli("consumer next W C --count 6", status=0)
    work_off(url, "W", failing=range(7, 11))
    assert js.ask(url, "CONSUMER.INFO.W.C")["num_ack_pending"] == 0
    outcome = cli("consumer dead W C --json", status=0)
    assert [(one["sequence"], one["deliveries"]) for one in outcome.json] == [
        (sequence, max_deliver) for sequence in range(7, 11)
    ]
    assert cli("consumer pending W C --json", status=0).json == []
    cli("consumer edit W C --wait 1h -f", status=0)
    js.publish(url, "w.a", count=2)
    cli("consumer next W C --count 2 --no-ack", status=0)
    assert [one["sequence"] for one in cli("consumer pending W C --json", status=0).json] == [11, 12]
    assert sequences(cli) == [7, 8, 9, 10]


def test_what_is_given_up_behind_an_acknowledgement_for_all_before(cli: Cli, url: str) -> None:
    """The server never stores it: the redelivery of 1 was acknowledged, and has a later number than 2 had
    first. Another message waits meanwhile."""
    js.stream(url, "W", "w.*")
    consumer(url, "W", ack_policy="all", max_deliver=2, ack_wait=3600 * 10**9)
    js.publish(url, "w.a", count=3)

    async def work() -> None:
        client = await nats.connect(url.split(","))
        subscription = await client.jetstream().pull_subscribe_bind("C", "W")
        for message in (await subscription.fetch(3))[:2]:
            await client.request(message.reply, b"-NAK")
        first, second = await subscription.fetch(2)
        await client.request(first.reply, b"+ACK")
        await client.request(second.reply, b"-NAK")
        with suppress(TimeoutError):
            await subscription.fetch(1, timeout=0.2)  # it looks for what is next
        await client.close()

    asyncio.run(work())
    wait_for(lambda: js.ask(url, "CONSUMER.INFO.W.C")["num_ack_pending"] == 1, "2 is not given up")
    letters = cli("consumer dead W C --json", status=0).json
    assert [(one["sequence"], one["deliveries"]) for one in letters] == [(2, 2)]
    assert [one["sequence"] for one in cli("consumer pending W C --json", status=0).json] == [3]


def test_what_is_given_up_among_last_deliveries_is_said(cli: Cli, url: str) -> None:
    """As before, while 3 has its last delivery: nothing tells which of both was given up, until 3 is, too."""
    js.stream(url, "W", "w.*")
    consumer(url, "W", ack_policy="all", max_deliver=2, ack_wait=2 * 10**9)
    js.publish(url, "w.a", count=3)

    async def work() -> None:
        client = await nats.connect(url.split(","))
        subscription = await client.jetstream().pull_subscribe_bind("C", "W")
        for message in await subscription.fetch(3):
            await client.request(message.reply, b"-NAK")
        first, second, _ = await subscription.fetch(3)
        await client.request(first.reply, b"+ACK")
        await client.request(second.reply, b"-NAK")
        with suppress(TimeoutError):
            await subscription.fetch(1, timeout=0.2)
        await client.close()

    asyncio.run(work())
    wait_for(lambda: js.ask(url, "CONSUMER.INFO.W.C")["num_ack_pending"] == 1, "2 is not given up")
    outcome = cli("consumer dead W C --json", status=0)
    assert outcome.json == []
    assert "1 more message may have been given up: which is known once the last deliveries" in outcome.err
    outcome = cli("consumer pending W C --json", status=0)
    assert [one["sequence"] for one in outcome.json] == [2, 3]
    assert "1 message of these may have been given up" in outcome.err
    cli("consumer next W C --timeout 3s")
    wait_for(lambda: js.ask(url, "CONSUMER.INFO.W.C")["num_ack_pending"] == 0, "3 is not given up")
    assert sequences(cli) == [2, 3]


@pytest.mark.slow
def test_advisories(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "W", "w.*")
    consumer(url, "W")
    assert cli("consumer dead W C", status=0).out.startswith("Consumer W > C has given up no messages")
    preview = cli("consumer dead --capture --dry-run", status=0).out
    assert (
        "about 500 bytes" in preview and "64 MiB" in preview and "DEAD_LETTERS" not in cli("stream ls -n").out
    )
    assert "was created" in cli("consumer dead W C --capture --force --max-age 7d", status=0).out
    config = js.info(url, "DEAD_LETTERS")["config"]
    assert config["max_age"] == 7 * 86_400 * 10**9 and config["max_bytes"] == 64 << 20
    assert len(config["subjects"]) == 2 and all(one.endswith(".W.C") for one in config["subjects"])
    assert "stored already" in cli("consumer dead W C --capture --force", status=0).out
    js.publish(url, "w.a", b"\xff", count=4)
    js.publish(url, "w.b", b"two", count=4)
    work_off(url, "W", failing=[2, 5], terminated=[3])
    letters = cli("consumer dead W C --json", status=0).json
    assert [(one["sequence"], one["reason"], one["deliveries"]) for one in letters] == [
        (2, "max_deliver", 2),
        (3, "terminated", 1),
        (5, "max_deliver", 2),
    ]
    assert all(one["given_up"] > one["time"] for one in letters)
    counts = {
        (row["Reason"], row["Subject"]): row["Messages"]
        for row in read_table(cli("con dead W C --histogram").out)
    }
    assert counts[("max_deliver", "w.a")] == "1" and counts[("", "")] == "3"
    shown = cli("consumer dead W C --show", status=0).out
    assert "Message 5 was not acknowledged after its last delivery (2 deliveries)" in shown and "two" in shown
    path = tmp_path / "a b" / "dead.jsonl"
    path.parent.mkdir()
    cli(["consumer", "dead", "W", "C", "--output", str(path)], status=0)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["sequence"] for line in lines] == [2, 3, 5] and lines[0]["data_base64"] == "/w=="
    assert cli("consumer dead W C --output -", status=0).out == path.read_text() and not Path("-").exists()
    # All consumers, on top of one that is captured already; delivered again, a message is not dead.
    assert "was extended" in cli("consumer dead --capture --force", status=0).out
    assert [one[-4:] for one in js.info(url, "DEAD_LETTERS")["config"]["subjects"]] == [".*.*", ".*.*"]
    cli("consumer reset W C --sequence 5 -f", status=0)
    assert sequences(cli) == [3]
    work_off(url, "W", failing=[7])
    assert sequences(cli) == [3, 7]
    assert sorted(one["sequence"] for one in cli("con dead W C --show --json", status=0).json) == [3, 7]


@pytest.mark.parametrize(
    "line", ["con dead W C --show", "con dead W C --output {}", "redrive W C --dead --subject retry.x -f"]
)
def test_terminated_messages_without_advisories_are_said_to_be_unknown(
    cli: Cli, url: str, tmp_path: Path, line: str
) -> None:
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.>")
    consumer(url, "W")
    js.publish(url, "w.a", count=3)
    work_off(url, "W", terminated=[2])
    line = line.format(tmp_path / "dead.jsonl")
    unknown = "what clients terminated is not known; jsctl consumer dead W C --capture stores it from now on"
    assert unknown in cli(line, status=0).err and unknown in cli(line, terminal_error=True, status=0).err
    consumer(url, "W", "FREE", ack_policy="none", max_deliver=-1, ack_wait=0, max_ack_pending=0)
    free = line.replace(" C ", " FREE ")
    assert "clients terminate" not in cli(free, status=0).err + cli("con dead W FREE", status=0).out
    cli("con dead W C --capture -f", status=0)
    assert "clients terminated" not in cli(line, status=0).err


def test_what_is_refused(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w.*")
    consumer(url, "W")
    assert (
        "--watch and --show cannot be used together" in cli("con dead W C --watch 1s --show", status=64).err
    )
    assert "are for --capture" in cli("con dead W C --max-age 1h", status=64).err
    assert "--dry-run is for --capture" in cli("con dead W C --dry-run", status=64).err
    assert "must be more than 0" in cli("con dead W C --capture --max-age 0s", status=64).err
    assert "--force" in cli("con dead W C --capture", status=64).err
    cli("con dead W X --capture -f", status=3)
    cli("con dead X --capture -f", status=3)
    js.ask(
        url,
        "CONSUMER.CREATE.W.N",
        {"stream_name": "W", "config": {"durable_name": "N", "ack_policy": "none"}},
    )
    assert cli("con dead W N --json", status=0).json == []
