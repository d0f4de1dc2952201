"""Messages of work queues that no consumer delivers, and what else `consumer why` sees: `doctor`, `report`
and the exporter see the same."""

import asyncio
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.monitor.consumer.evidence import gather_evidence
from jsctl.monitor.consumer.facts import select_stream_facts
from jsctl.nats.connection import Connection
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_for


def consumer(url: str, stream: str, name: str = "C", **config: Any) -> None:
    wanted = {"durable_name": name, "ack_policy": "explicit", **config}
    js.ask(url, f"CONSUMER.CREATE.{stream}.{name}", {"stream_name": stream, "config": wanted})


def causes(cli: Cli, stream: str, name: str = "C") -> dict[str, Any]:
    document = cli(f"consumer why {stream} {name} --json", status=0).json
    return {**{cause["code"]: cause for cause in document["causes"]}, "verdict": document["verdict"]}


def findings(cli: Cli) -> dict[str, dict[str, Any]]:
    """The findings of doctor by code; a report and the exporter have the same codes."""
    found = {finding["code"]: finding for finding in cli("doctor --json").json["findings"]}
    (report,) = cli("report --json").json["reports"]
    rows = [*report["streams"], *report["consumers"], report["login"]]
    assert {code for row in rows for code in row["codes"]} == set(found)
    exported = cli("exporter --textfile - --count 1", status=0).out
    assert all(f'code="{code}"' in exported for code in found)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("retention", ["limits", "workqueue"])
def test_what_was_given_up_is_not_counted_among_those_that_wait(cli: Cli, url: str, retention: str) -> None:
    js.stream(url, "Q", "q.*", retention=retention, allow_direct=True)
    consumer(url, "Q", max_deliver=2, ack_wait=300_000_000)
    js.publish(url, "q.a", count=9)
    for _ in range(2):  # the last deliveries of 1 to 3
        cli("consumer next Q C --count 3 --no-ack", status=0)
        time.sleep(0.4)
    cli("consumer next Q C --count 4 --no-ack", status=0)
    time.sleep(0.4)
    info = js.ask(url, "CONSUMER.INFO.Q.C")
    assert (info["num_redelivered"], info["num_ack_pending"]) == (3, 4)
    assert [one["sequence"] for one in cli("consumer dead Q C --json", status=0).json] == [1, 2, 3]
    found = causes(cli, "Q")
    assert found["GIVEN_UP"]["says"].startswith("at least 3 messages were given up after 2 tries")
    assert "4 messages were delivered" in json.dumps(cli("consumer why Q C --json", status=0).json)


@pytest.mark.slow
def test_a_message_that_was_given_up_and_passed(cli: Cli, url: str) -> None:
    js.stream(url, "Q", "q.*", retention="workqueue", allow_direct=True)
    consumer(url, "Q", max_deliver=1, ack_wait=200_000_000)
    for number in range(4):
        js.publish(url, f"q.{number}")
    cli("consumer next Q C --no-ack", status=0)
    wait_for(lambda: not js.ask(url, "CONSUMER.INFO.Q.C")["num_ack_pending"], "it is not given up")
    cli("consumer next Q C --count 3", status=0)
    assert js.ask(url, "CONSUMER.INFO.Q.C")["ack_floor"]["stream_seq"] == 4
    found = findings(cli)
    assert list(found) == ["GIVEN_UP"]
    cause = causes(cli, "Q")["GIVEN_UP"]
    assert cause["says"] == "message 1 (q.0) was given up after 1 try without acknowledgement"
    assert found["GIVEN_UP"]["seen"] == cause["says"] and cause["help"] in found["GIVEN_UP"]["fix"]
    assert [one["sequence"] for one in cli(cause["help"].removeprefix("jsctl ") + " --json").json] == [1]
    again = cause["lines"][1]["line"]
    assert found["GIVEN_UP"]["fix"].endswith(again)
    assert cli("consumer report Q --json", status=0).json["consumers"][0]["trouble"] == ["1 given up"]
    cli(again.removeprefix("jsctl ") + " -f", status=0)
    assert "q.0" in cli("consumer next Q C", status=0).out
    assert findings(cli) == {} and js.info(url, "Q")["state"]["messages"] == 0


@pytest.mark.slow
def test_subjects_of_a_work_queue_that_no_filter_covers(cli: Cli, url: str) -> None:
    js.stream(url, "Q", "q.>", retention="workqueue")
    consumer(url, "Q", filter_subject="q.a.>")
    js.publish(url, "q.b.1", count=50)
    js.publish(url, "q.c")
    found = findings(cli)
    assert list(found) == ["NOT_CONSUMED"]
    assert found["NOT_CONSUMED"]["seen"] == "no consumer's filter matches 51 messages on q.b.1, q.c"
    why = causes(cli, "Q")
    assert why["verdict"] == "partial" and why["NOT_CONSUMED"]["says"] == found["NOT_CONSUMED"]["seen"]
    assert found["NOT_CONSUMED"]["fix"].endswith(": jsctl consumer add Q --filter q.b.1 --filter q.c")
    js.ask(url, "STREAM.PURGE.Q", {"filter": "q.c"})
    line = findings(cli)["NOT_CONSUMED"]["fix"].rpartition("jsctl ")[2]
    assert line == "consumer add Q --filter q.b.1"
    cli(f"{line} D --pull --defaults", status=0)
    assert "NOT_CONSUMED" not in findings(cli)


@pytest.mark.slow
@pytest.mark.parametrize("direct", [True, False])
def test_what_is_left_is_what_is_left(url: str, direct: bool) -> None:
    """Random work queues, consumers, deliveries and acknowledgements, against a model."""
    chance = random.Random(7)

    def fetch_settled(stream: str, consumers: list[str]) -> list[dict[str, Any]]:
        def fetch() -> list[dict[str, Any]]:
            return [js.ask(url, f"CONSUMER.INFO.{stream}.{one}") for one in consumers]

        wait_for(lambda: not any(one["num_ack_pending"] for one in fetch()), "they are not given up")
        return fetch()

    for number in range(12):
        name = f"Q{number}"
        js.stream(url, name, f"{name}.>", retention="workqueue", allow_direct=direct, storage="memory")
        kinds = chance.sample("abcd", chance.randint(1, 3))
        for kind in kinds:
            consumer(url, name, kind, max_deliver=1, ack_wait=100_000_000, filter_subject=f"{name}.{kind}")
        published = [chance.choice("abcd") for _ in range(chance.randint(1, 12))]
        js.publish_all(url, [(f"{name}.{kind}", b"x") for kind in published])
        asyncio.run(_consume(url, name, kinds, chance, published))
        infos = fetch_settled(name, kinds)
        stored = {one["seq"]: one["subject"] for one in _list_messages(url, name)}
        evidence = asyncio.run(_gather(url, {name: select_stream_facts(js.info(url, name))}, infos))
        for info in infos:
            kind, delivered = info["name"], info["delivered"]["stream_seq"]
            own = [seq for seq, subject in stored.items() if subject == f"{name}.{kind}" and seq <= delivered]
            count, first, _ = evidence.consumers[name][kind]["left"]
            assert (count, first) == (len(own), min(own, default=0)), (name, kind, published)
        uncovered = [subject for subject in stored.values() if subject[-1] not in kinds]
        assert bool(evidence.streams.get(name)) == bool(uncovered)
        if uncovered:
            assert evidence.streams[name][0].words == f"{len(uncovered)} for no consumer"


async def _consume(
    url: str, stream: str, kinds: list[str], chance: random.Random, published: list[str]
) -> None:
    """Deliver some messages, and acknowledge some of these."""
    connection = await Connection.open(Settings(url=url))
    try:
        for kind in kinds:
            for _ in range(chance.randint(0, published.count(kind))):
                inbox = connection.new_inbox()
                async with connection.subscribe(inbox) as replies:
                    await connection.publish(f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{kind}", b"1", reply=inbox)
                    message = await replies.next(5 * SECOND)
                if message and chance.random() < 0.6:
                    await connection.request(message.reply, b"+ACK")
    finally:
        await connection.close()


async def _gather(url: str, facts: dict[str, Any], infos: list[Any]) -> Any:
    connection = await Connection.open(Settings(url=url))
    try:
        return await gather_evidence(Api(connection), facts, infos)
    finally:
        await connection.close()


def _list_messages(url: str, stream: str) -> list[dict[str, Any]]:
    state = js.info(url, stream)["state"]
    found = []
    sequence = state["first_seq"]
    while sequence <= state["last_seq"] and state["messages"]:
        message = js.ask(url, f"STREAM.MSG.GET.{stream}", {"seq": sequence, "next_by_subj": ">"})["message"]
        found.append(message)
        sequence = message["seq"] + 1
        if len(found) == state["messages"]:
            break
    return found


@pytest.mark.slow
def test_messages_that_limits_removed_before_they_were_read(cli: Cli, url: str) -> None:
    js.stream(url, "L", "l", max_msgs=3)
    js.stream(url, "NEWEST", "newest", max_msgs_per_subject=1)
    js.stream(url, "COPY", mirror={"name": "L", "opt_start_seq": 5})
    for stream, name in (("L", "C"), ("L", "UNREAD"), ("NEWEST", "C"), ("COPY", "C")):
        consumer(url, stream, name)
    js.publish(url, "newest", count=3)
    js.publish(url, "l")
    cli("consumer next L C", status=0)
    js.publish(url, "l", count=6)
    consumer(url, "L", "LATER")
    consumer(url, "L", "SOME", filter_subject="l")
    found = [one for one in cli("doctor --json").json["findings"] if one["code"] == "UNREAD_REMOVED"]
    assert [one["about"] for one in found] == ["consumer L > C", "consumer L > UNREAD"]
    assert "up to sequence 1, and the stream begins at 5: " in causes(cli, "L")["UNREAD_REMOVED"]["says"]
    assert "took 4 sequences" in causes(cli, "L", "UNREAD")["UNREAD_REMOVED"]["says"]
    cli("consumer next L C", status=0)
    cli("consumer next L UNREAD", status=0)
    assert "UNREAD_REMOVED" not in findings(cli)


RULES = {
    "all": "",
    "deaf": 'publish: {deny: ["$JS.ACK.>"]}',
    "narrow": 'publish: {allow: ["$JS.API.>"]}, subscribe: {allow: ["_INBOX.>"]}',
    "replies": 'publish: {allow: ["$JS.API.>", "$SYS.REQ.USER.INFO"]}, allow_responses: true',
    "viewer": 'publish: {allow: ["$JS.API.INFO", "$JS.API.*.NAMES", "$JS.API.*.LIST.>", "$JS.API.*.LIST",'
    ' "$JS.API.*.INFO.>"]}',
}


@pytest.mark.slow
def test_a_login_that_may_not_acknowledge(offline_cli: Cli, tmp_path: Path) -> None:
    users = [f"{{user: {name}, password: {name}, permissions: {{{rules}}}}}" for name, rules in RULES.items()]
    config = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'
    server = RealServer(tmp_path, f"{config}authorization {{ users: [{', '.join(users)}] }}\n").start()
    try:
        url = server.url_for("all")
        js.stream(url, "S", "s")
        consumer(url, "S")
        js.publish(url, "s")
        for name, is_denied in {"all": 0, "deaf": 1, "narrow": 1, "replies": 0, "viewer": 0}.items():
            offline_cli(f"context add {name} --server {server.url_for(name)} --select", status=0)
            assert ("ACK_DENIED" in causes(offline_cli, "S")) == is_denied, name
            assert name == "viewer" or ("ACK_DENIED" in findings(offline_cli)) == is_denied, name
        dead = offline_cli("consumer dead S C", status=0)
        assert dead.out.startswith("It is not known which messages consumer S > C has given up\n")
        assert "warning: messages may have been given up: the login may not ask" in dead.err
        assert js.ask(url, "CONSUMER.INFO.S.C")["delivered"]["consumer_seq"] == 0, "trying delivers nothing"
    finally:
        server.stop()


@pytest.mark.slow
def test_doctor_knows_what_a_single_try_gave_up_in_any_stream(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.*")
    consumer(url, "S", max_deliver=1, ack_wait=200_000_000)
    for number in range(3):
        js.publish(url, f"s.{number}")
    cli("consumer next S C --no-ack", status=0)
    wait_for(lambda: not js.ask(url, "CONSUMER.INFO.S.C")["num_ack_pending"], "it is not given up")
    cli("consumer next S C --count 2", status=0)
    assert js.ask(url, "CONSUMER.INFO.S.C")["ack_floor"]["stream_seq"] == 3
    (finding,) = cli("doctor --json", status=1).json["findings"]
    assert finding["code"] == "GIVEN_UP" and finding["seen"] == causes(cli, "S")["GIVEN_UP"]["says"]
    cli("stream rmm S 1 --force", status=0)
    assert not cli("doctor --json", status=0).json["findings"] and causes(cli, "S")["verdict"] == "fine"


@pytest.mark.slow
@pytest.mark.parametrize("copying", [{"sources": [{"name": "Q"}]}, {"mirror": {"name": "Q"}}])
def test_what_others_need_of_a_work_queue_is_not_given_up(
    cli: Cli, url: str, copying: dict[str, Any]
) -> None:
    """Since 2.15, a mirror or source has a consumer of a work queue beside that of its clients."""
    js.stream(url, "Q", "q.*", retention="workqueue", allow_direct=True)
    consumer(url, "Q", max_deliver=2, filter_subject="q.a")
    js.publish(url, "q.a", count=3)
    js.stream(url, "COPY", **copying)
    wait_for(lambda: js.info(url, "COPY")["state"]["messages"] == 3, "they are not copied")
    [copier] = [name for name in js.ask(url, "CONSUMER.NAMES.Q")["consumers"] if name != "C"]

    def has_acknowledged() -> bool:
        return bool(js.ask(url, f"CONSUMER.INFO.Q.{copier}")["ack_floor"]["stream_seq"] == 3)

    wait_for(has_acknowledged, "the copy acknowledges nothing")
    assert js.info(url, "Q")["state"]["messages"] == 3
    assert not [one for one in cli("doctor --json").json["findings"] if one["code"] == "GIVEN_UP"]
    assert cli(f"consumer dead Q {copier} --json", status=0).json == []
    assert causes(cli, "Q", copier)["verdict"] == "fine"


@pytest.mark.slow
def test_what_a_queue_has_passed_is_not_copied_with_its_consumers(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "Q", "q.*", retention="workqueue", allow_direct=True)
    consumer(url, "Q")
    js.publish(url, "q.a", count=4)
    cli("backup stream Q " + str(tmp_path / "before"), status=0)
    cli("consumer reset Q C --sequence 3 --force --allow-data-loss", status=0)
    cli("backup stream Q " + str(tmp_path / "after"), status=0)
    failed = cli("stream copy Q COPY --data --consumers --subjects copy", status=1).err
    assert "COPY differs from stream Q: messages: 2 instead of 4" in failed
    assert "what its consumers have passed; all stays without --consumers" in failed
    cli("stream rm COPY --force", status=0)
    cli("stream copy Q COPY --data --subjects copy", status=0)
    assert js.info(url, "COPY")["state"]["messages"] == js.info(url, "Q")["state"]["messages"] == 4
    js.ask(url, "STREAM.DELETE.Q")
    failed = cli(f"backup restore stream {tmp_path}/after", status=1).err
    assert "Q differs from the backup: messages: 2 instead of 4" in failed and "--config" in failed
    cli("stream rm Q --force", status=0)
    (tmp_path / "limits.yaml").write_text("retention: limits")
    cli(f"backup restore stream {tmp_path}/after --config {tmp_path}/limits.yaml", status=0)
    assert js.info(url, "Q")["state"]["messages"] == 4
    cli("stream rm Q --force", status=0)
    cli(f"backup restore stream {tmp_path}/before", status=0)


@pytest.mark.slow
def test_what_one_of_two_consumers_gave_up(cli: Cli, url: str) -> None:
    """Of a stream with interest retention, where a message that the other has acknowledged stays."""
    js.stream(url, "I", "i", retention="interest", allow_direct=True)
    consumer(url, "I", max_deliver=2, ack_wait=200_000_000)
    consumer(url, "I", "OTHER")
    js.publish(url, "i", count=2)
    for _ in range(2):
        cli("consumer next I C --count 2 --no-ack", status=0)

    def is_given_up() -> bool:
        cli("consumer next I C --timeout 100ms")  # the server notices once somebody asks for messages
        return not js.ask(url, "CONSUMER.INFO.I.C")["num_ack_pending"]

    wait_for(is_given_up, "it is not given up")
    js.publish(url, "i", count=2)
    cli("consumer next I C --count 2", status=0)
    cli("consumer next I OTHER --count 4", status=0)
    found = findings(cli)
    assert found["GIVEN_UP"]["seen"].startswith("2 messages were given up after 2 tries")
    assert len(cli("consumer dead I C --json", status=0).json) == 2
