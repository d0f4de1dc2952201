"""`schema search`."""

from tests.support.run import Cli


def test_search(offline_cli: Cli) -> None:
    everything = offline_cli("schema search --json", status=0).json
    assert len(everything) > 75 and everything == sorted(everything)
    some = offline_cli("schema ls v1.STREAM.*request", status=0).out.splitlines()
    assert "io.nats.jetstream.api.v1.stream_create_request" in some and len(some) < 20
    assert "No schemas matched" in offline_cli("schema search zzz", status=0).out
    assert "regular expression" in offline_cli("schema search '('", status=64).err
