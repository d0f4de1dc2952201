"""`jsctl report --watch` that is stopped, continued and ended by signals."""

import os
import re
import signal

import pytest

from tests.support.emulator import Watched
from tests.support.processes import in_session
from tests.support.run import Cli


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_terminal_is_restored_at_a_signal(cli: Cli, number: signal.Signals) -> None:
    watched = Watched(cli.terminal("report --watch 200ms"))
    watched.until("there are no streams")
    assert watched.child.pid
    os.kill(watched.child.pid, number)
    assert watched.end() == 128 + number
    assert not watched.screen.alternate
    assert not watched.screen.cursor_hidden


@pytest.mark.slow
@pytest.mark.parametrize("key", ["\x1a", ""])
def test_stopped_and_continued(cli: Cli, key: str) -> None:
    """By ctrl-Z and by a signal, in a shell with job control, which has the terminal meanwhile."""
    watched = Watched(cli.terminal("report --watch 200ms", shell=["bash", "--norc", "-i"]))
    watched.until("there are no streams")
    if key:
        watched.press(key)
    else:
        assert watched.child.pid
        [pid] = [one.pid for one in in_session(watched.child.pid) if one.parent == watched.child.pid]
        os.kill(pid, signal.SIGTSTP)
    watched.until("Stopped")
    assert not watched.screen.alternate
    watched.press("echo $((41 + 1))\r")
    watched.until(lambda text: re.search("^42", text, re.MULTILINE))
    watched.press("fg\r")
    watched.until("there are no streams")
    assert watched.screen.alternate
    watched.press("q")
    watched.until(lambda text: not watched.screen.alternate)
    watched.press("exit $?\r")
    assert watched.end() == 0
