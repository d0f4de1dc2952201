"""`consumer rm` on a real server."""

import pytest

from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


def test_rm(cli: Cli, pull: None) -> None:
    outcome = cli("con rm ORDERS C", tty=True, answers=[False], status=0)
    assert outcome.asked == ["Really delete Consumer ORDERS > C"]
    assert "use --force" in cli("con rm ORDERS C", status=64).err
    removed = cli("con rm ORDERS C -f", terminal_error=True, status=0)
    assert (removed.out, removed.err) == ("", "Consumer ORDERS > C was removed\n")
    assert "consumer ORDERS > C not found" in cli("con rm ORDERS C -f", status=3).err
    assert "--force needs both names" in cli("con rm ORDERS -f", status=64).err
