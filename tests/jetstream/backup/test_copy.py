"""stream copy --data: the same messages somewhere else."""

import asyncio
import json
import os
import random
from contextlib import suppress
from pathlib import Path

import pytest

from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.backup.compare import Comparison, compare_streams
from jsctl.jetstream.backup.copy_transfer import Endpoint
from jsctl.jetstream.state import MARK
from jsctl.nats.connection import Connection
from tests.support.cases import sample
from tests.support.hostile import middleman
from tests.support.js import ask, info, publish, publish_all, stream, wait_for_messages
from tests.support.run import Cli
from tests.support.servers import HubLeaf, RealServer
from tests.support.stored import stored
from tests.support.waiting import wait_for

_S2_MAGIC = b"\xff\x06\x00\x00S2sTwO"

SERVER = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
"""


@pytest.fixture
def orders(url: str) -> str:
    """A stream with gaps at its head, middle and end."""
    stream(url, "ORDERS", "ORDERS.>", description="all", allow_direct=True)
    publish_all(url, ((f"ORDERS.{n % 5}", os.urandom(n % 300)) for n in range(5000)))
    for sequence in (1, 2, 77, 4999, 5000):
        ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": sequence})
    return url


@pytest.mark.slow
@pytest.mark.parametrize("direct", sample([True, False], 2))
def test_messages_come_along(cli: Cli, orders: str, direct: bool) -> None:
    allowed = "" if direct else " --no-allow-direct"
    outcome = cli(f"stream copy ORDERS OLD --data --subjects 'old.>' --description mine{allowed}", status=0)
    assert "Copied Stream ORDERS to OLD: 4,995 messages" in outcome.out
    assert "Compared 4,995 messages: sequences, subjects, headers, times and data are the same" in outcome.out
    assert "Information for Stream OLD" in outcome.out
    copy = info(orders, "OLD")
    assert copy["config"]["subjects"] == ["old.>"]
    assert copy["config"]["description"] == "mine"
    assert MARK not in copy["config"].get("metadata", {})
    assert copy["state"]["last_seq"] == 5000
    assert stored(orders, "OLD") == stored(orders, "ORDERS")


def test_json_is_one_document(cli: Cli, orders: str) -> None:
    document = cli("stream cp ORDERS OLD --data --subjects old --json", status=0).json
    assert document["comparison"] == {
        "compared": 4995,
        "gone": 0,
        "failures": 0,
        "missing": [],
        "different": {},
    }
    assert document["info"]["config"]["name"] == "OLD"


def test_consumers_are_copied_on_request(cli: Cli, orders: str) -> None:
    config = {"durable_name": "NEW", "ack_policy": "explicit"}
    ask(orders, "CONSUMER.DURABLE.CREATE.ORDERS.NEW", {"stream_name": "ORDERS", "config": config})
    cli("stream copy ORDERS A --data --subjects a", status=0)
    cli("stream copy ORDERS B --data --subjects b --consumers", status=0)
    assert info(orders, "A")["state"]["consumer_count"] == 0
    assert info(orders, "B")["state"]["consumer_count"] == 1


@pytest.mark.parametrize("by", ["stream copy", "backup", "chain", "apply"])
@pytest.mark.parametrize("seed", range(3))
def test_what_sources_from_a_queue_receives_nothing_of_its_copy(
    cli: Cli, url: str, tmp_path: Path, by: str, seed: int
) -> None:
    """The consumers with which servers copy stay behind. On a copy they would deliver its messages as those
    of the queue, and the queue's own ones would be acknowledged without being stored."""
    chance = random.Random(f"{by} {seed}")
    retention = chance.choice(["workqueue", "interest"])
    stream(url, "A", "a.>", retention=retention)
    consumers = [f"C{number}" for number in range(chance.randrange(3))]
    for name in consumers:
        metadata = {"large": "x" * chance.choice((10, 100_000))}
        config = {
            "durable_name": name,
            "ack_policy": "explicit",
            "filter_subject": f"a.{name}",
            "metadata": metadata,
        }
        ask(url, f"CONSUMER.CREATE.A.{name}", {"stream_name": "A", "config": config})
    stream(url, "S", sources=[{"name": "A"}])
    sent = [b"%d" % number for number in range(1, chance.randrange(3, 9))]
    wait_for(lambda: ask(url, "CONSUMER.NAMES.A")["total"] > len(consumers), "nothing is sourced")
    publish_all(url, [("a.x", data) for data in sent])
    wait_for_messages(url, "S", len(sent))
    if by == "stream copy":
        cli("stream copy A B --data --consumers --subjects b.> --force", status=0)
    elif by == "apply":
        wait_for(lambda: all_acknowledged(url), "S does not acknowledge")
        (tmp_path / "streams.yaml").write_text("streams:\n- name: B\n  renamed_from: A\n  subjects: [b.>]\n")
        outcome = cli(f"apply -f {tmp_path}/streams.yaml --force --allow-data-loss", status=0)
        assert "receives nothing any more" in outcome.out + outcome.err
    else:
        cli(f"backup stream A {tmp_path}/1", status=0)
        if by == "chain":
            publish_all(url, [("a.x", b"between")])
            sent.append(b"between")
            wait_for_messages(url, "S", len(sent))
            cli(f"backup stream A {tmp_path}/2 --since {tmp_path}/1", status=0)
        name = "2" if by == "chain" else "1"
        cli(f"backup drill {tmp_path}/{name}", status=0)
        cli(f"backup restore stream {tmp_path}/{name} --name B --subjects b.>", status=0)
    assert sorted(ask(url, "CONSUMER.NAMES.B")["consumers"] or []) == consumers
    publish_all(url, [("b.x", b"other")] * 5)
    if by != "apply":
        publish_all(url, [("a.x", b"after")] * 3)
        sent += [b"after"] * 3
    with suppress(AssertionError):
        wait_for(lambda: info(url, "S")["state"]["messages"] > len(sent), "as it should be", 0.5)
    assert [message.data for message in stored(url, "S")] == sent


def all_acknowledged(url: str) -> bool:
    listed = ask(url, "CONSUMER.LIST.A")["consumers"]
    return not any(one["num_ack_pending"] or one["num_pending"] for one in listed)


def test_an_interest_stream_is_not_renamed_while_another_has_to_receive(
    cli: Cli, url: str, tmp_path: Path
) -> None:
    """The new one would have no consumer for it, and not keep its messages."""
    stream(url, "A", "a.>", retention="interest")
    stream(url, "S", sources=[{"name": "A"}], max_msgs=2, discard="new")
    wait_for(lambda: ask(url, "CONSUMER.NAMES.A")["total"], "nothing is sourced")
    publish_all(url, [("a.x", b"1")] * 5)
    wait_for_messages(url, "S", 2)
    (tmp_path / "streams.yaml").write_text("streams:\n- name: B\n  renamed_from: A\n")
    outcome = cli(f"apply -f {tmp_path}/streams.yaml --force --allow-data-loss")
    assert outcome.status == 1 and "S has not acknowledged" in outcome.err
    assert info(url, "A")["state"]["messages"] >= 3


def test_impossible_requests(cli: Cli, orders: str) -> None:
    assert cli("stream copy ORDERS ORDERS --data", status=64).err.count("\n") == 1
    assert "need --data" in cli("stream copy ORDERS B --no-compare", status=64).err
    assert cli("stream copy NOPE B --data").status == 3
    assert "10065" in cli("stream copy ORDERS B --data", status=1).err  # the subjects of ORDERS
    stream(orders, "B", "b")
    assert "already exists" in cli("stream copy ORDERS B --data --subjects c", status=1).err
    assert info(orders, "B")["config"]["subjects"] == ["b"]


def test_other_domain(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    stream(hub_leaf.url, "SITE", "site.>", domain="leaf", allow_direct=True)
    publish_all(hub_leaf.leaf.url_for("acc"), ((f"site.{n}", os.urandom(3000)) for n in range(800)))
    outcome = hub_cli(
        "stream copy SITE SITE --data --from-domain leaf --to-domain hub --subjects 'central.>'", status=0
    )
    assert "Compared 800 messages: sequences" in outcome.out
    assert stored(hub_leaf.url, "SITE", domain="hub") == stored(hub_leaf.url, "SITE", domain="leaf")


@pytest.mark.slow
def test_other_context(cli: Cli, orders: str, tmp_path: Path) -> None:
    """Two servers that know nothing of each other."""
    server = RealServer(tmp_path / "server", SERVER).start()
    try:
        own = Cli(cli.home)
        own(f"context add east --server {orders}", status=0)
        own(f"context add west --server {server.url}", status=0)
        own("stream copy ORDERS ORDERS --data --from-context east --to-context west", status=0)
        assert stored(server.url, "ORDERS") == stored(orders, "ORDERS")
        # Without --data the configuration goes there as well.
        own("stream copy ORDERS BARE --from-context east --to-context west --subjects bare", status=0)
        assert info(server.url, "BARE")["state"]["messages"] == 0
    finally:
        server.stop()


def compared(url: str, source: str, target: str) -> Comparison:
    async def work() -> Comparison:
        connection = await Connection.open(Settings(url=url))
        try:
            api = Api(connection)
            state = (await api.call(f"STREAM.INFO.{source}"))["state"]
            return await compare_streams(Endpoint(api, source), Endpoint(api, target), state)
        finally:
            await connection.close()

    return asyncio.run(work())


def test_differences_are_found(cli: Cli, orders: str) -> None:
    cli("stream copy ORDERS OLD --data --subjects old", status=0)
    ask(orders, "STREAM.MSG.DELETE.OLD", {"seq": 300})
    ask(orders, "STREAM.MSG.DELETE.ORDERS", {"seq": 400})
    result = compared(orders, "ORDERS", "OLD")
    assert (result.compared, result.removed, result.failures, result.missing) == (4995, 1, 1, [300])
    stream(orders, "ELSE", "else")
    publish(orders, "else", b"", count=4)
    result = compared(orders, "ELSE", "OLD")
    assert result.different == {3: "subject, time, data", 4: "subject, time, data"}
    assert (result.missing, result.failures) == ([1, 2], 4)


def test_a_copy_that_was_not_compared_continues(cli: Cli, orders: str) -> None:
    cli("stream copy ORDERS OLD --data --subjects old", status=0)
    config = info(orders, "OLD")["config"]
    ask(orders, "STREAM.UPDATE.OLD", {**config, "metadata": {MARK: "compare x"}})
    outcome = cli("stream copy ORDERS OLD --data --subjects old", terminal_error=True, status=0)
    assert "is already copied; continuing with the comparison" in outcome.err
    assert "Compared 4,995 messages" in outcome.out
    assert MARK not in json.dumps(info(orders, "OLD"))


def test_a_wrong_copy_keeps_its_mark(cli: Cli, orders: str) -> None:
    cli("stream copy ORDERS OLD --data --subjects old", status=0)
    config = info(orders, "OLD")["config"]
    ask(orders, "STREAM.UPDATE.OLD", {**config, "metadata": {MARK: "compare x"}})
    for sequence in (3, 300):  # the first one, too
        ask(orders, "STREAM.MSG.DELETE.OLD", {"seq": sequence})
    outcome = cli("stream copy ORDERS OLD --data --subjects old", status=1)
    assert "2 differ" in outcome.out and "3 is missing" in outcome.out and "300 is missing" in outcome.out
    assert MARK in info(orders, "OLD")["config"]["metadata"]


@pytest.mark.slow
def test_a_counter_begins_again(cli: Cli, url: str) -> None:
    """No mirror can be a counter: what a restore of one leaves cannot be gone on with."""
    stream(url, "COUNT", "count.>", allow_msg_counter=True, allow_direct=True)
    for _ in range(3):
        cli("pub count.a '' -H Nats-Incr:2", status=0)
    stream(url, "OLD", "old", metadata={MARK: "restore x"})
    outcome = cli("stream copy COUNT OLD --data --subjects old", terminal_error=True, status=0)
    assert "was interrupted; starting again" in outcome.err
    assert info(url, "OLD")["config"]["allow_msg_counter"]
    assert stored(url, "OLD") == stored(url, "COUNT")


@pytest.mark.slow
def test_what_others_published_to_a_broken_copy_is_not_removed(cli: Cli, orders: str) -> None:
    stream(orders, "OLD", "old", metadata={MARK: "restore x"})
    publish(orders, "old", b"somebody's", count=80)
    refused = cli("stream copy ORDERS OLD --data --subjects old", status=64)
    assert "--force --allow-data-loss" in refused.err
    refused = cli("stream copy ORDERS OLD --data --subjects old --force", status=64)
    assert "some of them not of Stream ORDERS" in refused.err and "use --allow-data-loss" in refused.err
    assert info(orders, "OLD")["state"]["messages"] == 80
    cli("stream copy ORDERS OLD --data --subjects old --force --allow-data-loss", status=0)


@pytest.mark.parametrize("place", ["source", "frame", "end"])
def test_a_damaged_snapshot(place: str, cli: Cli, orders: str, tmp_path: Path) -> None:
    """On its way, it changes; that is one line, and no copy is left."""
    before, _, port = orders.rpartition(":")
    _, _, login = before.rpartition("/")

    def damage(subject: bytes, payload: bytes) -> bytes:
        if not payload.startswith(_S2_MAGIC):
            return payload
        if place == "source":
            return b"x" + payload[1:]
        at = len(_S2_MAGIC) + 1 if place == "frame" else len(payload) - 10
        return payload[:at] + bytes(255 - byte for byte in payload[at : at + 8]) + payload[at + 8 :]

    with middleman(int(port)) as between:
        between.change = damage
        user = login.rpartition("@")[0]
        address = f"nats://{user + '@' if user else ''}127.0.0.1:{between.port}"
        outcome = Cli(tmp_path / "other", address)("stream copy ORDERS OLD --data --subjects old")
    assert outcome.status == 1, outcome
    lines = [line for line in outcome.err.splitlines() if line.startswith("jsctl: error")]
    assert len(lines) == 1 and "bug" not in outcome.err and "Traceback" not in outcome.err, outcome.err
    assert cli("stream info OLD").status == 3
