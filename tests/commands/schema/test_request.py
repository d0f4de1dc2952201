"""`schema request`."""

from tests.support import js
from tests.support.run import Cli


def test_request(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>")
    shown = cli("schema request '$JS.API.STREAM.INFO.S' '' --show", status=0).out
    assert '"config"' in shown and "is a valid io.nats.jetstream.api.v1.stream_info_response" in shown
    data = cli("schema request '$JS.API.STREAM.NAMES' --schema stream_list_response --json", status=1).json
    assert not data["valid"] and "type is" in data["errors"][0]
    assert data["response"]["streams"] == ["S"]
    piped = '{"offset": 1}'
    data = cli("schema request '$JS.API.STREAM.NAMES' --json", stdin=piped, status=0).json
    assert data["response"]["offset"] == 1
    assert "nobody answers" in cli("schema request nobody", status=4).err
