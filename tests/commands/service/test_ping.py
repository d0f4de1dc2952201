"""`service ping`."""

from tests.support.run import Cli
from tests.support.services import answering, reply


def test_ping(cli: Cli, url: str) -> None:
    with answering(url, {"$SRV.PING": [reply("ping")], "$SRV.PING.W": [reply("ping")]}):
        (pong,) = cli("service ping W --json", status=0).json
        assert (pong["name"], pong["id"]) == ("W", "1") and pong["rtt_ns"] > 0
        assert "W" in cli("service ping", status=0).out
        assert "service V not found" in cli("service ping V", status=3).err
