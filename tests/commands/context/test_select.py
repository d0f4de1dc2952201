"""`context select`."""

import pexpect

from jsctl.errors import ExitStatus
from tests.support.run import Cli


def test_select_from_a_list(cli: Cli) -> None:
    assert "there are no contexts" in cli("context select", answers=[], status=ExitStatus.NOT_FOUND).err
    for name in ("a", "b"):
        cli(f"context add {name}", status=0)
    assert cli("context select", answers=["b"], status=0).asked == ["Select a Context"]
    assert (cli.home / "nats" / "context.txt").read_text() == "b"
    assert "specify NAME" in cli("context select", status=ExitStatus.USAGE).err
    child = cli.terminal("context select")
    try:
        child.expect("Select a Context")
        child.send("\x1b[A\r")
        child.expect('Context "a"')
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"
