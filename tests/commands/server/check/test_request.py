"""`server check request`."""

from tests.support.checks import check
from tests.support.run import Cli


def test_a_request(cli: Cli) -> None:
    outcome = check(cli, "request --subject nobody --response-critical 3s", 2)
    assert "nobody answers" in str(outcome["critical"])
    assert [measure["critical"] for measure in outcome["perf_data"]] == [3]
