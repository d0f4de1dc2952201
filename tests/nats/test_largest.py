"""What a real server delivers that is larger than the max_payload that it tells: no client may take that for
the bound of what comes in (`codec.compute_message_limit`)."""

from pathlib import Path

import pytest

from jsctl.nats.codec import ANSWER_ROOM, MAX_PAYLOAD, compute_message_limit
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer

pytestmark = pytest.mark.slow

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
