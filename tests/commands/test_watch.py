"""`watch`."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from jsctl.monitor.alerts import delivery
from tests.support import js
from tests.support.processes import alive
from tests.support.run import Cli
from tests.support.waiting import wait_for


@pytest.fixture
def behind(url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": {"durable_name": "C"}})
    js.publish(url, "orders.new", count=5)


@pytest.fixture
def hook() -> Iterator[tuple[str, list[Any], list[str]]]:
    """The address of a webhook, what it was told, and the ids of that. It refuses the first message."""
    told: list[Any] = []
    ids: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.extend([body] if ids else [])
            ids.append(self.headers["Idempotency-Key"])
            self.send_response(200 if told else 503)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", told, ids
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_restart_repeats_nothing(cli: Cli, behind: None, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("alerts: [{name: late, when: lag > 1}]")
    line = f"watch {tmp_path}/a.yaml --count 1 --json"
    outcome = cli(line, status=1)
    event = json.loads(outcome.out)
    assert (event["alert"], event["state"], event["consumer"]) == ("late", "firing", "C")
    assert cli(line, status=1).out == "", "it still fires, and was told"
    other = cli(f"{line} --alert-state {tmp_path}/other", status=1)
    assert json.loads(other.out)["state"] == "firing"
    other = cli(f"report --alert {tmp_path}/a.yaml --alert-state {tmp_path}/other --no-consumers --count 1")
    assert other.status == 0 and "late" not in other.err, "what was not asked for is not gone"
    (tmp_path / "other").write_text("[]")
    assert "does not hold states" in cli(f"{line} --alert-state {tmp_path}/other", status=64).err


def test_no_data(offline_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("alerts: [{name: late, when: lag > 1}]")
    outcome = offline_cli(f"watch {tmp_path}/a.yaml --count 1 -s nats://127.0.0.1:9", status=4)
    assert "late has no data" in outcome.out and outcome.err == ""


@pytest.mark.parametrize("form", ["slack", "alertmanager", "jsctl"])
def test_webhooks_are_told_until_they_hear(
    cli: Cli, behind: None, hook: tuple[str, list[Any], list[str]], form: str, tmp_path: Path
) -> None:
    address, told, ids = hook
    (tmp_path / "a.yaml").write_text(
        "alerts: [{name: late, when: lag > 1, severity: critical, about: <!channel> & co}]\n"
        f"receivers: [{{name: ops, webhook: '{address}', form: {form}}}]\n"
    )
    outcome = cli(f"watch {tmp_path}/a.yaml --count 3 --interval 100ms", status=1)
    assert "receiver ops: the webhook answered 503; it is tried again" in outcome.err
    [message] = told
    assert len(ids) == 2 and len({*ids}) == 1, "what is told again has the id that it had"
    if form == "alertmanager":
        [alert] = message["alerts"]
        assert message["version"] == "4" and message["status"] == alert["status"] == "firing"
        assert alert["labels"]["alertname"] == "late" and alert["labels"]["severity"] == "critical"
        assert message["groupLabels"]["alertname"] == "late"
    else:
        assert "late fires" in message["text"]
        assert (form == "jsctl") == ("events" in message)
        about = "&lt;!channel&gt; &amp; co" if form == "slack" else "<!channel> & co"
        assert message["text"].endswith(about)


def test_receivers_that_hang_keep_nobody_waiting(
    cli: Cli, behind: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in later rounds; and nothing that a command started is left."""
    monkeypatch.setattr(delivery, "_CLOSING", 1.0)
    told, left = tmp_path / "told", tmp_path / "left"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (tmp_path / "a.yaml").write_text(
            "alerts: [{name: late, when: lag > 1}, {name: later, when: lag > 1 for 200ms}]\n"
            "receivers:\n"
            f"  - {{name: silent, webhook: 'http://127.0.0.1:{silent.getsockname()[1]}'}}\n"
            f"  - {{name: hanging, command: [sh, -c, 'sleep 60 & echo $! > {left}; wait']}}\n"
            f"  - {{name: desk, command: [sh, -c, 'cat >> {told}; echo $JSCTL_ALERT_ID >> {told}']}}\n"
        )
        cli(f"watch {tmp_path}/a.yaml --count 3 --interval 200ms", status=1)
    messages = [*zip(*[iter(told.read_text().splitlines())] * 2, strict=True)]
    assert [json.loads(text)["events"][0]["alert"] for text, _ in messages] == ["late", "later"]
    assert all(json.loads(text)["id"] == id for text, id in messages)
    wait_for(lambda: not alive(int(left.read_text())), "a process of a receiver is left")


def test_a_command_that_is_no_program_is_refused(offline_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("alerts: [{name: a, when: dead > 0}]\nreceivers: [{command: cat -n}]\n")
    err = offline_cli(f"watch {tmp_path}/a.yaml", status=64).err
    assert "the receiver 'command' has no program 'cat -n'; write command: [program, argument]" in err


@pytest.mark.slow
def test_two_at_once(cli: Cli, behind: None, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("alerts: [{name: late, when: lag > 1}]\nreceivers: [{stderr: true}]\n")
    process = cli.start(f"watch {tmp_path}/a.yaml --interval 200ms --alert-state {tmp_path}/state".split())
    try:
        state = tmp_path / "state"
        wait_for(lambda: state.exists() and "firing" in state.read_text(), "nothing fires")
        err = cli(f"watch {tmp_path}/a.yaml --alert-state {state}", status=64).err
        assert "another jsctl uses" in err
    finally:
        process.terminate()
        out, err = process.communicate(timeout=30)
    assert process.returncode == 143 and out.count("fires") == err.count("fires") == 1, (out, err)
