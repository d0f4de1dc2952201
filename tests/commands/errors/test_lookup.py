"""`errors lookup`."""

from tests.support.run import Cli


def test_lookup(offline_cli: Cli) -> None:
    out = offline_cli("errors lookup 10059", status=0).out
    assert "NATS Error Code: 10059" in out and "jsctl stream ls" in out
    offline_cli("errors lookup 9", status=3)
    offline_cli("errors lookup x", status=64)
