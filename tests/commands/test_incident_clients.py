"""`incident`: clients that come, go and are refused, servers that answer late, and what happens twice."""

import asyncio
import json
import socket
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.units import SECOND, format_rfc3339
from jsctl.contexts.settings import Settings
from jsctl.monitor.incident.advised import Advised, merge_advised, parse_advised
from jsctl.monitor.incident.changes import Change as Incident
from jsctl.monitor.incident.clients import ClientFinder
from jsctl.monitor.incident.consumers import compare_consumers
from jsctl.monitor.report.advisories import AdvisoryLog
from jsctl.monitor.report.round_json import PlaceRound
from jsctl.monitor.server.requests import fetch_servers
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message, OutgoingMessage
from tests.support import js
from tests.support.rounds import Change, write_rounds
from tests.support.run import Cli
from tests.support.servers import HUB_LEAF_ACCOUNTS, RealServer
from tests.support.subscribing import subscribing


def entry(kind: str, at: int, *, is_long: bool = False, reason: str = "", count: int = 1) -> dict[str, Any]:
    facts: dict[str, Any] = {"server": "n1", "account": "A", "user": "app", "client": "worker", "host": "h"}
    times = dict.fromkeys(("at", "received"), format_rfc3339(at * SECOND))
    facts |= {"reason": reason, "is_long": is_long}
    return {"kind": kind, "count": count, "facts": facts, **times}


def find(rounds: list[list[dict[str, Any]]]) -> list[Advised]:
    """Return what is told of rounds of a second each."""
    finder, found = ClientFinder(), list[Advised]()
    for number, entries in enumerate(rounds):
        place = PlaceRound("c", "", [], "", "", None, entries)
        found += finder.find(place, number * SECOND, (number + 1) * SECOND)
    return [*found, *finder.find_rest()]


@given(st.integers(3, 40), st.lists(st.integers(0, 2), max_size=20), st.integers(0, 5))
def test_a_client_that_does_not_come_back_is_told_once(calm: int, ends: list[int], wait: int) -> None:
    """And one that connects within two rounds is not; nor are those that always come and go."""
    gone = entry("client_disconnect", calm, is_long=True, reason="Client Closed")
    rounds = [*([[]] * calm), [gone], *([[]] * wait), [entry("client_connect", calm + wait + 1)], [], []]
    assert [one.at for one in find(rounds) if one.kind == "client gone"] == [calm * SECOND] * (wait >= 2)
    shorts = [
        [entry("client_disconnect", number, reason="Client Closed", count=1 + count)]
        for number, count in enumerate([*ends, 2, 1, 0, 1])
    ]
    assert not find([*shorts, *shorts])


@given(st.integers(5, 60), st.integers(1, 9), st.integers(3, 9))
def test_a_client_that_comes_and_goes_is_told_from_its_start(calm: int, each: int, rounds: int) -> None:
    ended = [
        [entry("client_disconnect", calm + number, reason="Client Closed", count=each)]
        for number in range(rounds)
    ]
    found = find([*([[]] * calm), *ended])
    assert [(one.kind, one.at) for one in found] == [("connections", calm * SECOND)]
    assert found[0].name == "c: client app (worker, h)" and "came and went" in found[0].says


def test_a_leaf_node_that_is_lost_is_told_at_once_by_the_other_side() -> None:
    lost, back = (
        entry(kind, 9, is_long=True, reason=reason)
        for kind, reason in (("client_disconnect", "Client Closed"), ("client_connect", ""))
    )
    for one in (lost, back):
        one["facts"]["is_leaf"] = True
    own = {**lost, "facts": {**lost["facts"], "client": ""}}
    told = [(one.name, one.level, one.says) for one in find([[], [lost, own], [back]])]
    name = "c: leaf node app (worker, h)"
    assert told == [(name, "warning", "connection ended: Client Closed"), (name, "good", "connected")]


def test_the_reasons_of_servers_are_told(cli: Cli, tmp_path: Path) -> None:
    """Of a login that is refused, and of a connection that a server ended; of this process there is none."""
    config = f"""listen: "127.0.0.1:{{port}}"
jetstream {{ store_dir: "{{store}}", domain: hub }}
{HUB_LEAF_ACCOUNTS}"""
    server, rec = RealServer(tmp_path, config).start(), tmp_path / "rec"
    try:
        words = ["--watch", "200ms", "--json", "--count", "6", "--server", server.url_for("admin")]
        process = cli.start(["report", "--record", str(rec), *words], stderr=subprocess.DEVNULL)
        assert process.stdout
        process.stdout.readline()
        process.stdout.readline()
        host, port = server.url_for("acc").rpartition("@")[2].split(":")
        for password, command in (("acc", b"PUB a 9000000\r\n"), ("wrong", b""), ("wrong", b"")):
            with socket.create_connection((host, int(port))) as client:
                login = {"user": "acc", "pass": password, "name": "bulk", "verbose": False}
                client.sendall(b"CONNECT " + json.dumps(login).encode() + b"\r\n" + command + b"PING\r\n")
                while client.recv(4096):
                    pass
        process.communicate()
    finally:
        server.stop()
    document = cli(f"incident --from {rec} --json", status=0).json
    assert [(one["level"], one["says"]) for one in document["changes"] if one["server"]] == [
        ("warning", "connection ended: Maximum Message Payload Exceeded"),
        ("warning", "login refused: Authentication Failure (2 times)"),
    ]
    assert document["first"]["name"].endswith(": client acc (bulk, 127.0.0.1)")
    assert "wrong" not in rec.read_bytes().decode("latin-1")


@pytest.mark.parametrize(("version", "is_kept"), [("2.10.29", False), ("2.11.1", False), ("2.11.2", True)])
def test_users_of_servers_that_name_tokens_are_not_kept(version: str, is_kept: bool) -> None:
    log = AdvisoryLog("", time.time, is_recorded=True)
    log.note_server(version)
    client = {"user": "t0ken", "name": "app", "host": "h"}
    for subject in ("$SYS.SERVER.N.CLIENT.AUTH.ERR", "$JS.EVENT.ADVISORY.API"):
        kind = "io.nats.jetstream.advisory.v1.api_audit"
        event = {"type": kind, "client": client, "subject": "$JS.API.STREAM.PURGE.S", "response": "{}"}
        log.add(Message(subject, data=json.dumps(event).encode()))
    entries = log.take()
    assert len(entries) == 2 and ("t0ken" in str(entries)) == is_kept


def test_a_purge_is_told_with_its_messages_also_if_a_stream_is_full_again(
    cli: Cli, url: str, tmp_path: Path
) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=5)
    rec = tmp_path / "rec"
    process = cli.start(f"report --record {rec} --watch 500ms --json --count 4", stderr=subprocess.DEVNULL)
    assert process.stdout
    process.stdout.readline()
    js.ask(url, "STREAM.PURGE.ORDERS")
    js.publish(url, "orders.new", count=9)
    process.communicate()
    first = cli(f"incident --from {rec} --json", status=0).json["first"]
    assert (first["kind"], first["level"]) == ("purged", "bad")
    assert first["says"].startswith("was purged: 5 messages removed, by ")


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_what_happens_twice_has_its_own_times(parts: list[int]) -> None:
    """However the advisories of leaders that are elected lie between rounds."""
    changes, advised = [], []
    for number, part in enumerate(parts, 1):
        at, after = number * 10 * SECOND, (number - 1) * 10 * SECOND
        facts = {"stream": "S", "leader": f"n{number}"}
        times = dict.fromkeys(("at", "received"), format_rfc3339(after + part * SECOND))
        told = {"kind": "stream_leader_elected", "count": 1, "facts": facts, **times}
        advised.append(parse_advised(told, "c", "", after, at))
        changes.append(
            Incident(at, after, "leader changed", "note", "c", "", "c: stream S", f"now n{number}")
        )
    merged = merge_advised(changes, advised, {})
    assert [one.at // SECOND for one in merged] == [10 * number + part for number, part in enumerate(parts)]
    assert [one.says for one in merged] == [one.says for one in changes]


def test_messages_that_are_given_up_in_each_round_are_one_change(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)

    def given_up(second: int) -> Change:
        def change(place: dict[str, Any]) -> None:
            at = f"2027-01-15T08:00:0{second}.5Z"
            facts = {"stream": "ORDERS", "consumer": "C"}
            own = {"kind": "max_deliver", "at": at, "received": at, "count": 2, "facts": facts}
            place["advisories"] = [own] if second else []

        return change

    file = write_rounds(tmp_path / "real", tmp_path / "rounds", [*map(given_up, range(6))])
    [change] = cli(f"incident --from {file} --json", status=0).json["changes"]
    assert change["says"] == "delivery attempts exceeded (10 times)" and change["at"][17:19] == "01"


def test_few_large_messages_are_a_burst(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)

    def stored(number: int) -> Change:
        def change(place: dict[str, Any]) -> None:
            size = number * 1_000 + max(0, number - 6) * (1 << 20)
            row = {"messages": number, "last_seq": number, "bytes": size}
            place["overview"]["streams"][0] |= row

        return change

    file = write_rounds(tmp_path / "real", tmp_path / "rounds", [*map(stored, (1, 2, 3, 4, 5, 6, 9, 10))])
    first = cli(f"incident --from {file} --json", status=0).json["first"]
    assert first["says"] == "stored 3.0 MiB within 1s, at most 1000 B a second before"


def test_pull_requests_that_fill_a_consumer() -> None:
    rounds = [{"max_waiting": 2, "waiting": count} for count in (1, 2, 2, 1, 2)]
    pairs = zip([None, *rounds], rounds, strict=False)
    told = [[words[0] for words in compare_consumers("C", old, new)] for old, new in pairs]
    assert told == [[], ["pulls full"], [], [], ["pulls full"]]


def test_a_server_that_answered_before_is_awaited_longer(url: str) -> None:
    """As over a slow link; others are not, as servers count one that was killed for minutes."""

    def answer(name: str, seconds: float, connection: Connection, message: Message) -> None:
        time.sleep(seconds)
        own = {"server": {"id": name, "name": name}, "statsz": {"active_servers": 2}}
        connection.post(OutgoingMessage(message.reply, json.dumps(own).encode(), "", b"").encode())

    async def ask(*known: str) -> list[str]:
        connection = await Connection.open(Settings(url=url))
        try:
            answers = await fetch_servers(connection, subject="slow.ping", known=known)
        finally:
            await connection.close()
        return [reply["server"]["id"] for reply, _ in answers]

    fast, slow = partial(answer, "n1", 0), partial(answer, "n2", 0.7)
    with subscribing(url, "slow.ping", handle=fast), subscribing(url, "slow.ping", handle=slow):
        assert asyncio.run(ask()) == ["n1"]
    with subscribing(url, "slow.ping", handle=fast), subscribing(url, "slow.ping", handle=slow):
        assert asyncio.run(ask("n1", "n2")) == ["n1", "n2"]
