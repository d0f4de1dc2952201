"""`consumer unpin` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders", "outputs_are_valid")


def test_unpin(cli: Cli, url: str, pull: None) -> None:
    assert "does not pin clients" in cli("con unpin ORDERS C -f", status=1).err
    cli("con add ORDERS PIN --pull --pinned-groups a --pinned-ttl 1m", status=0)
    assert "no client is pinned" in cli("con unpin ORDERS PIN -f", status=1).err
    assert "has no priority group b" in cli("con unpin ORDERS PIN b -f", status=3).err
    js.publish(url, "ORDERS.a")
    cli("con next ORDERS PIN --group a", status=0)
    assert "pinned " in cli("con info ORDERS PIN", status=0).out
    assert "pinned a: " in cli("con report ORDERS", status=0).out
    assert cli("con find ORDERS --pinned", status=0).out == "PIN\n"
    dry = cli("con unpin ORDERS PIN --dry-run --json", status=0).json
    assert (dry["group"], dry["would"]) == ("a", "unpin client from group ORDERS > PIN > a") and dry["client"]
    assert "pinned " in cli("con info ORDERS PIN", status=0).out
    done = cli("con unpin ORDERS PIN", tty=True, answers=["a", True], status=0)
    assert done.asked == ["Select a Group", "Really unpin client from group ORDERS > PIN > a"]
    assert done.out.startswith("Unpinned client ")
    assert "No client" in cli("con info ORDERS PIN", status=0).out
