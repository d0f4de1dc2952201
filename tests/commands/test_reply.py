"""`reply`, asked by `request`."""

import asyncio
import signal
import threading
import time

import pytest

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.jetstream.message import user_command
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message
from tests.support import js
from tests.support.replier import Start
from tests.support.run import Cli


def test_a_command(cli: Cli, replier: Start) -> None:
    replier("cmd.*", "--command", "printf '%s|' {{1}} {{Request}} x")
    assert cli(["req", "cmd.tok", "a b; $(id)", "--raw"], status=0).out == "tok|a b; $(id)|x|\n"


@pytest.mark.slow
def test_a_command_that_writes_without_end_or_never_ends(
    cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    js.stream(url, "S", "s")
    js.publish(url, "s", count=2)
    for command in ("yes", "sh -c 'yes | cat'"):
        refused = cli(["stream", "get", "S", "1", "--translate", command], status=64)
        assert f"{command.split()[0]} wrote more than 67,108,864 bytes and was ended" in refused.err
    monkeypatch.setattr(user_command, "MAX_DURATION", SECOND // 2)
    for command in ("sleep 60", "sh -c 'sleep 60 & sleep 60'"):
        began = time.monotonic()
        refused = cli(["stream", "get", "S", "1", "--translate", command], status=64)
        assert "took longer than 500ms and was ended" in refused.err
        assert time.monotonic() - began < 20


def test_an_answer_that_is_too_large_is_an_error_and_the_next_one_is_served(cli: Cli, replier: Start) -> None:
    replier("cmd.*", "--command", "sh -c 'if [ {{1}} = big ]; then yes; else echo small; fi'")
    assert "wrote more than 1,048,576 bytes" in cli("req cmd.big x", status=0).err
    assert cli("req cmd.a x --raw-bytes", status=0).out == "small\n"


@pytest.mark.slow
def test_a_stalled_reader_delays_no_answer(cli: Cli, replier: Start) -> None:
    process = replier("echo.>", "--echo")  # nobody reads its output: 64 KiB, and the pipes are full
    answered = cli(["req", "echo.a", "x" * 100, "--count", "2000", "--raw"], status=0).out
    assert answered.count("\n") == 2000
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.count("x" * 100) == 2000 and "Answered 2,000 requests" in err


def test_the_commands_environment(cli: Cli, replier: Start) -> None:
    replier("env", "--command", "printenv NATS_REQUEST_SUBJECT NATS_REQUEST_BODY")
    assert cli("req env body --raw", status=0).out == "env\nbody\n"


def test_a_failing_command_says_so(cli: Cli, replier: Start) -> None:
    replier("bad", "--command", "false")
    assert "Nats-Service-Error: false ended with status 1" in cli("req bad x", status=0).err
    replier("none", "--command", "/nope/x")
    assert "Nats-Service-Error: cannot run /nope/x" in cli("req none x", status=0).err


def test_without_a_body_it_is_an_echo(cli: Cli, replier: Start) -> None:
    replier("mirror")
    assert cli("req mirror hello --raw", status=0).out == "hello\n"


def test_templates_and_headers(cli: Cli, replier: Start) -> None:
    replier("t", "{{Count}}: {{Request}}", "-H", "N: {{Count}}")
    outcome = cli("req t hello", status=0)
    assert "0: hello" in outcome.out and "N: 0" in outcome.err


def test_requests_are_not_templates(cli: Cli, replier: Start, url: str) -> None:
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
        "reply a b --echo",
        "reply a --echo --command cat",
        "reply 'a b' x",
        "reply a x --weight 0",
        "reply a --command '\"'",
        "request 'a b' x",
        "request a x --replies -1",
        "request a.> x",
    ],
)
def test_wrong_command_lines(line: str, cli: Cli) -> None:
    failed = cli(line, status=64)
    assert failed.out == "" and failed.err.count("\n") == 1
