"""`watch`."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for


@pytest.fixture
def behind(url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": {"durable_name": "C"}})
    js.publish(url, "orders.new", count=5)


@pytest.fixture
def hook() -> Iterator[tuple[str, list[Any]]]:
    """The address of a webhook, and what it was told. It refuses the first message."""
    told: list[Any] = []
    refused: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            (told if refused else refused).append(body)
            self.send_response(200 if told else 503)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", told
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
    cli: Cli, behind: None, hook: tuple[str, list[Any]], form: str, tmp_path: Path
) -> None:
    address, told = hook
    (tmp_path / "a.yaml").write_text(
        "alerts: [{name: late, when: lag > 1, severity: critical, about: <!channel> & co}]\n"
        f"receivers: [{{name: ops, webhook: '{address}', form: {form}}}]\n"
    )
    outcome = cli(f"watch {tmp_path}/a.yaml --count 3 --interval 100ms", status=1)
    assert "receiver ops: the webhook answered 503; it is tried again" in outcome.err
    [message] = told
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


def test_a_receiver_that_hangs_keeps_nobody_waiting(cli: Cli, behind: None, tmp_path: Path) -> None:
    """Also where there is one round, at whose end the first receiver has not answered yet."""
    told = tmp_path / "told"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (tmp_path / "a.yaml").write_text(
            "alerts: [{name: late, when: lag > 1}]\n"
            "receivers:\n"
            f"  - {{name: silent, webhook: 'http://127.0.0.1:{silent.getsockname()[1]}'}}\n"
            f"  - {{name: desk, command: [tee, '{told}']}}\n"
        )
        cli(f"watch {tmp_path}/a.yaml --count 1", status=1)
    assert "late fires" in json.loads(told.read_text())["text"]


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
