"""`server check kv`."""

from tests.support.checks import check
from tests.support.run import Cli


def test_an_account_and_a_bucket(cli: Cli) -> None:
    assert "memory_pct=0%;75;90" in cli("server check jetstream", status=0).out
    cli("kv add CONFIG", status=0)
    assert check(cli, "kv --bucket CONFIG --key ready", 2)["critical"] == [
        "key ready not found in bucket CONFIG (10037); jsctl kv ls CONFIG lists the keys"
    ]
    cli("kv put CONFIG ready yes", status=0)
    assert check(cli, "kv --bucket CONFIG --key ready --values-critical 1")["status"] == "OK"
    assert check(cli, "kv --bucket NONE", 2)["status"] == "CRITICAL"
