"""`context unselect`."""

from tests.support.run import Cli


def test_unselect(cli: Cli) -> None:
    cli("context add a --select", status=0)
    assert cli("context unselect", status=0).out == 'Unselected the "a" context\n'
    assert not (cli.home / "nats" / "context.txt").exists()
    assert cli("context unselect --json", status=0).json == {"unselected": None}
    assert "unexpected" in cli("context unselect a", status=64).err
