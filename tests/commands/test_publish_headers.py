"""Headers of `publish` that streams act on."""

from tests.support import js
from tests.support.run import Cli


def test_headers_for_which_a_stream_may_refuse_a_message(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>", allow_msg_ttl=True, subject_delete_marker_ttl=3600 * 10**9)
    line = "pub s.a x -H Nats-TTL:5s -H A:b"
    assert "a stream may refuse Nats-TTL; with --jetstream it says so" in cli(line, tty=True, status=0).err
    assert "warning" not in cli(line, status=0).err
    assert "warning" not in cli("pub s.a x -H A:b", tty=True, status=0).err
    assert "warning: stream S keeps it for 1h0m0s" in cli(f"{line} -J", status=0).err
