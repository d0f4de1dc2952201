"""What a real server delivers that is larger than the max_payload that it tells: no client may take that for
the bound of what comes in (`codec.compute_message_limit`)."""

import socket
import time
from pathlib import Path

import pytest

from jsctl.contexts.settings import Settings
from jsctl.nats.addresses import ServerAddress
from jsctl.nats.blocking import BlockingConnection
from jsctl.nats.codec import ANSWER_ROOM, MAX_PAYLOAD, compute_message_limit
from jsctl.nats.message import Message
from jsctl.nats.protocol import READY
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer

CONFIG = 'listen: "127.0.0.1:{port}"\nmax_payload: 400000\njetstream { store_dir: "{store}" }\n'


def test_stored_messages_headers_and_answers_exceed_it(cli: Cli, tmp_path: Path) -> None:
    server = RealServer(tmp_path, CONFIG).start()
    try:
        js.stream(server.url, "S", "s", allow_direct=True)
        js.publish(server.url, "s", b"x" * 400_000)  # with the headers of a direct get it is beyond, even now
        cli.environ["NATS_URL"] = server.url
        assert "x" * 400_000 in cli("stream get S 1", status=0).out
        server.stop()
        server.config.write_text(server.config.read_text().replace("400000", "600"))
        server.start()
        assert "x" * 400_000 in cli("stream get S 1", status=0).out
        assert "x" * 400_000 in cli("sub --stream S --all --count 1", status=0).out
        assert len(cli("stream info S --json", status=0).out) > 600
    finally:
        server.stop()


@pytest.mark.parametrize("told", [1, 600, 1 << 20, MAX_PAYLOAD, 1 << 40])
def test_the_bound(told: int) -> None:
    assert compute_message_limit(told) == min(told, MAX_PAYLOAD) + ANSWER_ROOM <= 96 << 20


def test_a_large_message_is_read_in_time_that_grows_with_its_size() -> None:
    """Not all that is there is copied with each part that comes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        link = BlockingConnection(ours, ServerAddress(""), Settings(), "test")
        replies: list[Message] = []
        link.protocol.subscribe("x.1", replies.append)
        link.protocol.phase = READY
        frame = b"MSG x.1 2 %d\r\n%b\r\n" % (32 << 20, bytes(32 << 20))
        before = time.process_time()
        for at in range(0, len(frame), 32768):
            theirs.sendall(frame[at : at + 32768])
            link.pump(time.monotonic() + 10)
        spent = time.process_time() - before
    assert len(replies[0].data) == 32 << 20
    assert spent < 2
