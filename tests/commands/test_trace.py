"""`jsctl trace` on real servers."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from jsctl.trace import model
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf, RealServer
from tests.support.subscribing import subscribing
from tests.support.waiting import wait_for


@contextmanager
def subscribed(url: str, subject: str, queue: str = "") -> Iterator[list[bytes]]:
    """Subscribe, and yield the list of payloads that are received."""
    received: list[bytes] = []
    with subscribing(
        url,
        subject,
        handle=lambda connection, message: received.append(message.data),
        queue=queue,
        name="listener",
    ):
        yield received


def test_subscribers_and_streams(cli: Cli, url: str) -> None:
    js.stream(url, "S", "t.>")
    with subscribed(url, "t.*", "group") as received:
        shown = cli("trace t.x hello -T", status=0).out
        assert '--C Client "listener" cid:' in shown and 'subject:"t.*" queue:"group"' in shown
        assert '--J JetStream action:"stored" stream:"S" subject:"t.x"' in shown
        assert "[0s] Client" in shown and "Nobody" not in shown
        narrow = cli("trace t.x hello", tty=True, width=80, status=0).out
        assert re.search("^Legend: .* --X error$", narrow, re.MULTILINE)
        data = cli("trace t.x hello --json", status=0).json
        assert (data["received"], data["delivered"], data["egress"]) == (
            2,
            False,
            {"Client": 1, "JetStream": 1},
        )
        assert js.info(url, "S")["state"]["messages"] == 0 and received == []
        assert cli("trace t.x hello --deliver -H A:b --json", status=0).json["delivered"]
        wait_for(lambda: received == [b"hello"], "the subscriber did not get the message")
    assert js.info(url, "S")["state"]["messages"] == 1
    graph = cli("trace t.x --dot", status=0).out
    assert graph.startswith("digraph trace {") and 'label="stream S" shape=cylinder' in graph


def test_why_nobody_got_it(cli: Cli, url: str) -> None:
    shown = cli("trace nowhere", status=0)
    assert "--X No active interest" in shown.out and "nobody subscribes to nowhere in account" in shown.out
    js.stream(url, "FULL", "full", max_msgs=1, discard="new")
    js.publish(url, "full")
    [reason] = cli("trace full --json --deliver", status=0).json["reasons"]
    assert "maximum messages exceeded" in reason
    js.stream(url, "I", "interest", retention="interest")
    assert "no consumer is interested in interest" in cli("trace interest", status=0).out


def test_permissions_and_imports(tmp_path: Path) -> None:
    server = RealServer(
        tmp_path / "server",
        """
listen: "127.0.0.1:{port}"
accounts {
  A: { users: [{user: a, password: a, permissions: {publish: {deny: "secret"}, subscribe: {allow: [">"]}}}],
       exports: [{service: "svc.>"}], mappings: {"old.*": "new.{{wildcard(1)}}"} }
  B: { users: [{user: b, password: b}], imports: [{service: {account: A, subject: "svc.q"}, to: "ask"}] }
}
""",
    ).start()
    try:
        cli = Cli(tmp_path, server.url_for("a"))
        assert "secret" in cli("trace secret", status=5).err
        assert 'Mapping subject:"new.x"' in cli("trace old.x", status=0).out
        importing = Cli(tmp_path, server.url_for("b"))
        shown = importing("trace ask", status=0).out
        assert 'Service Import from:"ask" to:"svc.q" account:"A"' in shown
        assert "nobody subscribes to svc.q in account A" in shown and "allow_trace of the export" in shown
    finally:
        server.stop()


def test_over_a_leaf_node(hub_cli: Cli, hub_leaf: HubLeaf, tmp_path: Path) -> None:
    with subscribed(hub_leaf.leaf.url_for("acc"), "far"):
        data = hub_cli("trace far --json", status=0)
        shown = hub_cli("trace far", status=0).out
    assert '~~> Leafnode "leaf-server" lid:' in shown
    assert '\n    --C Client "listener"' in shown
    near = hub_cli("trace nowhere --json", status=0)
    (tmp_path / "far.json").write_text(data.out)
    (tmp_path / "near.json").write_text(near.out)
    line = ["trace", "diff", str(tmp_path / "far.json"), str(tmp_path / "near.json")]
    different = hub_cli([*line, "--json"], status=2).json
    assert {row["trace"] for row in different} == {"only the first"}
    assert "hub-server > leaf-server" in {row["where"] for row in different}
    assert "No difference" in hub_cli([*line[:2], line[2], line[2]], status=0).out


def test_what_cannot_be_compared(offline_cli: Cli, tmp_path: Path) -> None:
    for text in ("{", "[]", '{"traces": {}}', '{"traces": [{"events": 1}]}', '{"traces": []}'):
        (tmp_path / "a").write_text(text)
        assert "cannot read" in offline_cli(["trace", "diff", str(tmp_path / "a"), "/none"], status=64).err
    assert "subject is missing" in offline_cli("trace", status=64).err
    assert "too many" in offline_cli("trace a b c", status=64).err


def document(name: str, hop: str, *events: dict[str, Any]) -> dict[str, Any]:
    header = {"Nats-Trace-Hop": [hop]} if hop else {}
    return {"server": {"name": name, "id": name}, "request": {"header": header}, "events": list(events)}


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"type": "eg", "kind": 0, "name": "c", "error": "it is slow"}, "client c of server a: it is slow"),
        ({"type": "eg", "kind": 1, "name": "b", "hop": "1"}, "router b of server a did not answer"),
        ({"type": "js", "stream": "S", "error": "full"}, "stream S of server a: full"),
        ({"type": "in", "subj": "s", "error": "no"}, "server a refused it: no"),
    ],
)
def test_reasons(event: dict[str, Any], reason: str) -> None:
    root = model.build(dict([model.parse_document(document("a", "", event))]))
    assert reason in model.list_reasons(root)[0]


def test_loops_and_hostile_texts_end(offline_cli: Cli, tmp_path: Path) -> None:
    onward = {"type": "eg", "kind": 1, "name": "%s%n\x1b[2J", "hop": "1"}
    documents = [document("a", "", onward), document("b", "1", {**onward, "hop": "1"})]
    (tmp_path / "a").write_text(json.dumps({"traces": documents}))
    (tmp_path / "b").write_text(json.dumps({"traces": documents[:1]}))
    outcome = offline_cli(["trace", "diff", str(tmp_path / "a"), str(tmp_path / "b")], status=2)
    assert "a > b" in outcome.out and "\x1b" not in outcome.out
