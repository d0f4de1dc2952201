"""`server check request`."""

from tests.support.checks import check
from tests.support.run import Cli


def test_a_request(cli: Cli) -> None:
    assert "nobody answers" in str(check(cli, "request --subject nobody", 2)["critical"])
