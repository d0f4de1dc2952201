"""`server check jetstream`."""

from tests.support import js
from tests.support.checks import check
from tests.support.run import Cli


def test_jetstream(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    outcome = check(cli, "jetstream")
    assert (outcome["status"], outcome["ok"]) == ("OK", ["memory in percent 0", "storage in percent 0"])
    assert " streams=1 " in cli("server check jetstream", status=0).out


def test_a_mistake(cli: Cli) -> None:
    assert len(cli("server check jetstream --mem-warn much", status=64).err.splitlines()) == 1
