"""What a server may send: a violation of the protocol ends the connection, in one line and with status 4."""

import asyncio
import random
import time
from pathlib import Path

import pytest

from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError, Unreachable
from jsctl.nats.blocking import BlockingConnection
from jsctl.nats.codec import FrameParser, compute_message_limit, read_frame
from jsctl.nats.connection import Connection
from jsctl.nats.outcomes import ConnectionLost
from tests.fuzz.record import Record
from tests.support.hostile import cutting_server, hostile_server, info, mutate_bytes
from tests.support.run import Cli
from tests.support.servers import Account

VIOLATIONS = {
    "negative": b"MSG a 99 -16\r\n",
    "negative with headers": b"HMSG {reply} {sid} -1 4\r\nabcd\r\n",
    "headers beyond the message": b"HMSG {reply} {sid} 10 4\r\nabcd\r\n",
    "huge": b"MSG {reply} {sid} 99999999999\r\n",
    "beyond max_payload": b"MSG {reply} {sid} %d\r\n" % (compute_message_limit(1 << 20) + 1),
    "beyond max_payload with headers": b"HMSG {reply} {sid} 12 %d\r\n" % (compute_message_limit(1 << 20) + 1),
    "twenty digits": b"MSG {reply} {sid} 99999999999999999999\r\n",
    "5,000 digits": b"MSG {reply} {sid} " + b"9" * 5000 + b"\r\n",
    "no number": b"MSG {reply} {sid} x\r\n",
    "two words": b"MSG 5\r\n",
    "one word": b"MSG\r\n",
    "too many words": b"MSG a b c d e 5\r\n",
    "another word": b"MXX a 1 0\r\n\r\n",
    "no end": b"MSG {reply} {sid} 2\r\n{}xxxx\r\n",
    "endless line": b"MSG " + b"a" * 200_000,
    "endless unknown line": b"X" * 200_000,
    "unknown line": b"HELLO\r\n",
    "binary": bytes(range(128, 256)) * 4 + b"\r\n",
    "info of null": b"INFO null\r\n",
    "info of a list": b"INFO []\r\n",
    "info with text": b'INFO {"connect_urls": 5}\r\n',
    "deep info": b"INFO " + b"[" * 5000 + b"\r\n",
    "error without text": b"-ERR\r\n",
}

HELLOS = {
    "list": b"INFO []\r\n",
    "number": b"INFO 5\r\n",
    "null": b"INFO null\r\n",
    "text": b'INFO "x"\r\n',
    "deep": b"INFO " + b"[" * 3000 + b"\r\n",
    "not JSON": b"INFO {\r\n",
    "max_payload of text": info(max_payload="x"),
    "max_payload null": info(max_payload=None),
    "nonce of a number": info(nonce=5),
    "connect_urls of a number": info(connect_urls=5),
    "connect_urls of numbers": info(connect_urls=[5]),
    "connect_urls bad": info(connect_urls=["[::", "x:99999999"]),
    "version of a list": info(version=[1]),
    "long line": b"INFO " + b"x" * 300_000 + b"\r\n",
    "endless": b"x" * 300_000,
    "html": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "negative": info(max_payload=-5),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_violation_after_login(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Both the connection of commands and the one of Spark's tasks."""
    with hostile_server(then=VIOLATIONS[name]) as url:
        started = time.monotonic()
        outcome = Cli(tmp_path, url)("stream ls", status=4)
        assert time.monotonic() - started < 2, "it waited"
        assert len(outcome.err.splitlines()) == 1, outcome.err
        connection = BlockingConnection.open(Settings(url=url))
        with pytest.raises((Unreachable, ConnectionLost)):
            connection.request("x", timeout=300_000_000)
        connection.close()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("name", HELLOS)
def test_violation_at_login(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with hostile_server(HELLOS[name]) as url:
        outcome = Cli(tmp_path, url)("stream ls --timeout 1s", status=4)
        assert len(outcome.err.splitlines()) == 1, outcome.err
        if name != "connect_urls bad":
            with pytest.raises(JsctlError):
                BlockingConnection.open(Settings(url=url, timeout=1_000_000_000)).close()
    assert "Traceback" not in capfd.readouterr().err


def test_cut_at_any_byte_of_the_login(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = info() + b"PONG\r\n"
    cli = Cli(tmp_path)
    with Record("login cut at a byte") as record:
        for at in range(len(whole)):
            hello, pong = whole[: min(at, len(info()))], whole[len(info()) : at]
            with cutting_server(hello, pong) as url:
                outcome = cli("stream ls --timeout 500ms", environ={"NATS_URL": url})
                assert outcome.status == 4, (at, outcome)
                assert len(outcome.err.splitlines()) == 1, (at, outcome.err)
                record.count(f"status {outcome.status}")
                with pytest.raises(Unreachable) as failure:
                    BlockingConnection.open(Settings(url=url, timeout=500_000_000))
                assert str(failure.value).count("\n") == 0
                record.count("refused in a task of Spark")
    assert "Traceback" not in capfd.readouterr().err


def test_other_contexts_go_on(own_account: Account, tmp_path: Path) -> None:
    with hostile_server(then=b"MSG a 99 -16\r\n") as bad:
        cli = Cli(tmp_path)
        cli(f"context add good --server {own_account.url}", status=0)
        cli(f"context add bad --server {bad}", status=0)
        cli("stream add S --subjects s --defaults --context good", status=0)
        outcome = cli("report --context good --context bad --json")
        assert '"S"' in outcome.out, outcome
        assert "protocol" in outcome.out + outcome.err, outcome


def test_frames(cases: int) -> None:
    """Any bytes, split anywhere: frames or an Unreachable, and the same for both readers."""
    seeds = [
        b"MSG a.b 1 5\r\nhello\r\nPING\r\n",
        b"HMSG a 1 reply 12 17\r\nNATS/1.0\r\n\r\nhello\r\n",
        b"INFO {}\r\n+OK\r\n-ERR 'x'\r\nPONG\r\nMSG a 1 r 0\r\n\r\n",
    ]
    with Record("server bytes") as record:
        for number in range(cases):
            chance = random.Random(number)
            data = mutate_bytes(chance.choice(seeds) * chance.randint(1, 3), chance)
            at = chance.randrange(len(data) + 1)
            record.tried(lambda data=data, at=at: _parse(data, at), (ValueError,))  # type: ignore[misc]


def _parse(data: bytes, split: int) -> None:
    parser = FrameParser()
    frames = [*parser.feed(data[:split]), *parser.feed(data[split:])]
    at = 0
    for frame in frames:
        again = read_frame(data, at, len(data))
        assert again[1:] == frame[1:]
        at = again[0]


def test_subscription_ends_with_the_connection() -> None:
    async def run(url: str) -> None:
        connection = await Connection.open(Settings(url=url))
        async with connection.subscribe("a") as messages:
            await connection.publish("x", reply="y")
            with pytest.raises(Unreachable, match="protocol"):
                await messages.next(5_000_000_000)
        await connection.close()

    with hostile_server(then=b"MSG a 99 -16\r\n") as url:
        asyncio.run(run(url))
