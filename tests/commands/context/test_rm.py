"""`context rm`."""

from jsctl.errors import ExitStatus
from tests.support.run import Cli


def test_rm(cli: Cli) -> None:
    for name in ("a", "b", "c"):
        cli(f"context add {name}", status=0)
    cli("context select a", status=0)
    assert "is selected" in cli("context rm a", answers=[True], status=ExitStatus.FAILURE).err
    assert "use --force" in cli("context rm b", status=ExitStatus.USAGE).err
    cli("context rm b", answers=[False], status=0)
    assert cli("context ls --names").out == "a\nb\nc\n"
    cli("context rm b", answers=[True], status=0)
    cli("context rm nope", answers=[], status=ExitStatus.NOT_FOUND)
    outcome = cli("context rm nope --force", terminal_error=True, status=0)
    assert outcome.err == "there is no context nope, nothing was changed\n"
    cli("context remove c -f", status=0)
    # The only one may go, though it is selected.
    cli("context rm a", answers=[True], status=0)
    assert not (cli.home / "nats" / "context.txt").exists()
    assert cli("context ls --names").out == ""
