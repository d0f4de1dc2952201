"""`server check jetstream`."""

from tests.support import js
from tests.support.checks import check
from tests.support.run import Cli


def test_jetstream(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    outcome = check(cli, "jetstream")
    assert (outcome["status"], outcome["ok"]) == ("OK", ["memory in percent 0", "storage in percent 0"])
    measures = {measure["name"]: measure for measure in outcome["perf_data"]}
    assert (measures["replicas_lagged"]["critical"], measures["replicas_not_seen"]["critical"]) == (200, 5)
    assert (measures["streams_pct"]["warning"], measures["streams_pct"]["critical"]) == (0, 0)
    wrong = check(cli, "jetstream --mem-warn 80 --mem-critical 70", 2)
    assert wrong["critical"] == ["memory in percent: the critical threshold is below the one for warnings"]
    assert " streams=1 " in cli("server check jetstream", status=0).out


def test_a_limit_that_is_not_a_size_is_refused_in_one_line(cli: Cli) -> None:
    assert len(cli("server check jetstream --mem-warn much", status=64).err.splitlines()) == 1
