"""`bench object`."""

from tests.support.benching import run
from tests.support.run import Cli


def test_objects(cli: Cli) -> None:
    document = run(cli, "object put --msgs 3 --size 200KB --storage memory")
    assert document["bytes"] == 600 * 1024
    assert run(cli, "object get --msgs 5 --clients 2 --processes 0")["bytes"] == 10 * 200 * 1024
    run(cli, "object put --msgs 1 --purge --size 10")
    assert len(cli("object ls benchobjects --json").json) == 1
