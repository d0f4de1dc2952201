"""`request` and `reply`, each against the other."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jsctl.contexts.settings import Settings
from jsctl.jetstream.message import user_command
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message
from jsctl.units import SECOND
from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.slow

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def replier(cli: Cli) -> Iterator[Start]:
    """Starts `jsctl reply ...` and waits until it listens."""
    with contextlib.ExitStack() as stack:

        def start(*args: str) -> "subprocess.Popen[str]":
            process = subprocess.Popen(
                [sys.executable, "-m", "jsctl", "reply", *args],
                env={**os.environ, **cli.environ},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            assert process.stderr
            assert "Listening on" in process.stderr.readline()
            return process

        yield start


def test_nobody_responds(cli: Cli) -> None:
    failed = cli("request nobody x", status=4)
    assert "no responders" in failed.err and failed.out == ""


def test_no_answer_in_time(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s", no_ack=True)  # listens, never answers
    assert "no answer on s in 200ms" in cli("req s x --timeout 200ms", status=4).err


def test_an_echo(cli: Cli, replier: Start) -> None:
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


def test_several_replies(cli: Cli, replier: Start) -> None:
    for number in (1, 2, 3):
        replier("ask", str(number), "--queue", f"g{number}")
    for flags in ("--replies 3", "--replies 0 --timeout 700ms", "--replies 9 --reply-timeout 200ms"):
        assert sorted(cli(f"req ask '' --raw {flags}", status=0).out.split()) == ["1", "2", "3"]


def test_until_an_empty_reply(cli: Cli, replier: Start) -> None:
    replier("ask", "--command", "true", "--queue", "a")
    replier("ask", "x", "--queue", "b", "--sleep", "1ms")
    assert cli("req ask '' --raw --wait-for-empty", status=0).out in ("x\n", "")


def test_a_command(cli: Cli, replier: Start) -> None:
    replier("cmd.*", "--command", "printf '%s|' {{1}} {{Request}} x")
    assert cli(["req", "cmd.tok", "a b; $(id)", "--raw"], status=0).out == "tok|a b; $(id)|x|\n"


def test_a_command_that_writes_without_end_or_never_ends(
    cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_command, "LONGEST", SECOND // 2)
    js.stream(url, "S", "s")
    js.publish(url, "s", count=2)
    for command in ("yes", "sh -c 'yes | cat'"):
        refused = cli(["stream", "get", "S", "1", "--translate", command], status=64)
        assert f"{command.split()[0]} wrote more than 67,108,864 bytes and was ended" in refused.err
    for command in ("sleep 60", "sh -c 'sleep 60 & sleep 60'"):
        began = time.monotonic()
        refused = cli(["stream", "get", "S", "1", "--translate", command], status=64)
        assert "took longer than 500ms and was ended" in refused.err
        assert time.monotonic() - began < 20


def test_an_answer_that_is_too_large_is_an_error_and_the_next_one_is_served(cli: Cli, replier: Start) -> None:
    replier("cmd.*", "--command", "sh -c 'if [ {{1}} = big ]; then yes; else echo small; fi'")
    assert "wrote more than 1,048,576 bytes" in cli("req cmd.big x", status=0).err
    assert cli("req cmd.a x --raw-bytes", status=0).out == "small\n"


def test_a_reader_that_is_stalled_holds_no_answer_up(cli: Cli, replier: Start) -> None:
    process = replier("echo.>", "--echo")  # nobody reads its output: 64 KiB, and the pipes are full
    answered = cli(["req", "echo.a", "x" * 100, "--count", "2000", "--raw"], status=0).out
    assert answered.count("\n") == 2000
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert out.count("x" * 100) == 2000 and "Answered 2,000 requests" in err


def test_the_commands_environment(cli: Cli, replier: Start) -> None:
    replier("env", "--command", "printenv NATS_REQUEST_SUBJECT NATS_REQUEST_BODY")
    assert cli("req env body --raw", status=0).out == "env\nbody\n"


def test_a_failing_command_says_so(cli: Cli, replier: Start) -> None:
    replier("bad", "--command", "false")
    assert "Nats-Service-Error: false ended with status 1" in cli("req bad x", status=0).err
    replier("none", "--command", "/nope/x")
    assert "Nats-Service-Error: cannot run /nope/x" in cli("req none x", status=0).err


def test_templates_and_headers(cli: Cli, replier: Start) -> None:
    replier("t", "{{Count}}: {{Request}}", "-H", "N: {{Count}}")
    outcome = cli("req t hello", status=0)
    assert "0: hello" in outcome.out and "N: 0" in outcome.err


def test_what_requesters_send_is_no_template(cli: Cli, replier: Start, url: str) -> None:
    replier("cmd.*", "--command", "echo {{1}} {{Request}} {{9}}")
    for text in ("{{Random 1 67108864}}", "{{Nope}}", "{{Random 9 1}}", "{{{{ID}}"):
        token = text.replace(" ", "_")
        outcome = cli(["req", f"cmd.{token}", text, "--no-templates", "--raw"], status=0)
        assert outcome.out == f"{token} {text} \n"


def test_one_request_that_cannot_be_answered_ends_nothing(cli: Cli, replier: Start, url: str) -> None:
    echoing = replier("echo", "--echo")
    assert echoing.stdout  # somebody reads the large request that it shows
    threading.Thread(target=echoing.stdout.read, daemon=True).start()
    replier("head", "x", "-H", "A: {{Request}}")

    async def ask(subject: str, frame: bytes, data: bytes = b"x") -> Message:
        connection = await Connection.open(Settings(url=url))
        try:
            inbox = connection.new_inbox()
            async with connection.subscribe(inbox) as answers:
                await connection.send(encode_publish(subject, data, inbox, frame))
                answer = await answers.next(5 * SECOND)
            assert answer
            return answer
        finally:
            await connection.close()

    for subject, frame, data in (
        ("echo", b"NATS/1.0\r\na b: c\r\n\r\n", b"x"),
        ("echo", b"NATS/1.0\r\na: b\nc\r\n\r\n", b"x"),
        ("head", b"", b"two\r\nlines"),
        ("echo", b"", b"x" * 1_048_560),  # the answer has a header more, and is too large
    ):
        answer = asyncio.run(ask(subject, frame, data))
        assert dict(answer.headers)["Nats-Service-Error-Code"] == "500"
        assert cli(f"req {subject} y --raw", status=0).out in ("y\n", "x\n")


def test_weights(cli: Cli, replier: Start) -> None:
    replier("w", "heavy", "--weight", "9")
    replier("w", "light")
    answers = cli("req w '' --raw --count 300", status=0).out.split()
    assert 200 < answers.count("heavy") < 300 and answers.count("light") > 5


def test_a_count_and_ctrl_c(cli: Cli, replier: Start) -> None:
    counted = replier("c", "x", "--count", "2")
    cli("req c '' --count 2", status=0)
    assert counted.wait(10) == 0
    endless = replier("c", "x")
    endless.send_signal(signal.SIGINT)
    assert endless.wait(10) == 0
    assert endless.stderr and "Answered 0 requests" in endless.stderr.read()


@pytest.mark.parametrize(
    "line",
    [
        "reply a",
        "reply a b --echo",
        "reply 'a b' x",
        "reply a x --weight 0",
        "reply a --command '\"'",
        "request 'a b' x",
        "request a x --replies -1",
        "request a.> x",
    ],
)
def test_wrong_lines(line: str, cli: Cli) -> None:
    failed = cli(line, status=64)
    assert failed.out == "" and failed.err.count("\n") == 1


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
        failed = Cli(tmp_path / "c", server.url_for("u", "p"))("req secret x", status=5)
        assert "secret" in failed.err and time.monotonic() - began < 3
        refused = Cli(tmp_path / "c", server.url_for("u", "p"))("pub secret x")
        assert refused.status == 5 and refused.err.count("\n") == 1, refused
    finally:
        server.stop()
