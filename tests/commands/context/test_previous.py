"""`context previous`, and `select` before it."""

from jsctl.errors import ExitStatus
from tests.support.run import Cli


def test_select_and_previous(cli: Cli) -> None:
    for name in ("a", "b"):
        cli(f"context add {name}", status=0)
    assert "was selected before" in cli("context previous", status=ExitStatus.NOT_FOUND).err
    for line, expected in (
        ("select a", "a"),
        ("switch b", "b"),
        ("previous", "a"),
        ("-", "b"),
        ("set b", "b"),
        ("-", "a"),
    ):
        cli(f"context {line}", status=0)
        assert (cli.home / "nats" / "context.txt").read_text() == expected, line
    assert cli("context unselect", status=0).out == 'Unselected the "a" context\n'
    assert cli("context unselect", status=0).out == "No context currently selected\n"
    cli("context previous", status=0)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"
    cli("context select nope", status=ExitStatus.NOT_FOUND)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"
