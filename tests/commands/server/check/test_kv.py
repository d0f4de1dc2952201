"""`server check kv`."""

from tests.support.checks import check
from tests.support.run import Cli


def test_an_account_and_a_bucket(cli: Cli) -> None:
    assert "memory_pct=0%;75;90" in cli("server check jetstream", status=0).out
    cli("kv add CONFIG", status=0)
    outcome = check(cli, "kv --bucket CONFIG --key ready", 2)
    assert (outcome["critical"], outcome["ok"]) == (["key ready not found"], ["bucket CONFIG"])
    assert [measure["name"] for measure in outcome["perf_data"]] == ["values", "bytes", "replicas"]
    cli("kv put CONFIG ready yes", status=0)
    assert check(cli, "kv --bucket CONFIG --key ready --values-critical 2")["status"] == "OK"
    assert check(cli, "kv --bucket CONFIG --values-critical 1", 2)["critical"] == [
        "values 1, must be below 1"
    ]
    # As in the nats tool, a threshold for warnings alone means that few values are bad.
    assert check(cli, "kv --bucket CONFIG --values-warn 1", 1)["warning"] == ["values 1, must be above 1"]
    assert check(cli, "kv --bucket CONFIG --values-warn 2 --values-critical 0", 1)["warning"]
    cli("kv del CONFIG ready -f", status=0)
    assert check(cli, "kv --bucket CONFIG --key ready", 2)["critical"] == ["key ready was deleted"]
    assert check(cli, "kv --bucket NONE", 2)["status"] == "CRITICAL"
