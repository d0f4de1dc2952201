"""`request`, most of it to a `reply` of ours."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import js
from tests.support.replier import Start
from tests.support.run import Cli


def test_nobody_responds(cli: Cli) -> None:
    failed = cli("request nobody x", status=4)
    assert "no responders" in failed.err and failed.out == ""


def test_no_answer_in_time(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s", no_ack=True)  # listens, never answers
    assert "no answer on s in 200ms" in cli("req s x --timeout 200ms", status=4).err


def test_a_reply_is_shown_with_its_headers(cli: Cli, replier: Start) -> None:
    replier("echo.>", "--echo")
    outcome = cli("req echo.a 'question {{Count}}' -H K:v", status=0)
    assert outcome.out == "question 1\n\n"
    assert "K: v" in outcome.err and "NATS-Reply-Counter: 0" in outcome.err
    assert "K: v" in cli("req echo.a x -H K:v", tty=True, status=0).out
    assert 'Sending request on "echo.a"' in outcome.err and "Received with rtt" in outcome.err
    assert cli("req echo.a x --raw", status=0).out == "x\n"
    assert cli("req echo.a x --raw-bytes", status=0).out == "x"
    assert cli("req echo.a --raw --count 3 '{{Count}}'", status=0).out == "1\n2\n3\n"
    assert cli("req echo.a --raw --send-on newline", stdin="a\nb\n", status=0).out == "a\nb\n"
    assert cli("req echo.a x --translate 'tr x y' --raw", status=0).out == "y\n"
    record = cli("req echo.a x --json", status=0).json
    assert record["data"] == "x" and record["rtt"] > 0
    shown = cli(["req", "echo.a", "\x1b[31mred"], tty=True, status=0)
    assert "\x1b" not in shown.out and "\\x1b[31mred" in shown.out


def test_raw_bytes(cli: Cli, replier: Start) -> None:
    replier("echo", "--echo")
    data = b"\x00\xff\r\n" + bytes(range(256))
    done = subprocess.run(
        [sys.executable, "-m", "jsctl", "req", "echo", "--raw-bytes"],
        env={**os.environ, **cli.environ},
        input=data,
        capture_output=True,
        check=True,
    )
    assert done.stdout == data


def test_the_jetstream_api(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    js.publish(url, "s", b"stored")
    assert cli("req '$JS.API.STREAM.INFO.S' ''", status=0).out.startswith("{")
    # The reply carries the subject of the stored message.
    config = {"durable_name": "C", "ack_policy": "explicit"}
    js.ask(url, "CONSUMER.CREATE.S.C", {"stream_name": "S", "config": config})
    assert cli("req '$JS.API.CONSUMER.MSG.NEXT.S.C' '1' --raw", status=0).out == "stored\n"
    assert "Status: 404" in cli("""req '$JS.API.CONSUMER.MSG.NEXT.S.C' '{"no_wait":true}'""", status=0).err


@pytest.mark.slow
def test_several_replies(cli: Cli, replier: Start) -> None:
    for number in (1, 2, 3):
        replier("ask", str(number), "--queue", f"g{number}")
    for flags in ("--replies 3", "--replies 0 --timeout 700ms"):
        assert sorted(cli(f"req ask '' --raw {flags}", status=0).out.split()) == ["1", "2", "3"]
    fewer = cli("req ask '' --raw --replies 9 --reply-timeout 200ms", status=4)
    assert sorted(fewer.out.split()) == ["1", "2", "3"] and "3 of 9 replies on ask arrived" in fewer.err


def test_until_an_empty_reply(cli: Cli, replier: Start) -> None:
    replier("ask", "--command", "true", "--queue", "a")
    replier("ask", "x", "--queue", "b", "--sleep", "1ms")
    assert cli("req ask '' --raw --wait-for-empty", status=0).out in ("x\n", "")


def test_a_refused_publish(tmp_path: Path) -> None:
    from tests.support.servers import RealServer

    server = RealServer(
        tmp_path / "s",
        """
listen: "127.0.0.1:{port}"
authorization { users: [{user: u, password: p, permissions: {publish: "ok", subscribe: ">"}}] }
""",
    ).start()
    try:
        began = time.monotonic()
        failed = Cli(tmp_path / "c", server.url_for("u", "p"))("req secret x --timeout 60s", status=5)
        assert "secret" in failed.err and time.monotonic() - began < 30
        refused = Cli(tmp_path / "c", server.url_for("u", "p"))("pub secret x")
        assert refused.status == 5 and refused.err.count("\n") == 1, refused
    finally:
        server.stop()
