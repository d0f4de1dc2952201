"""`agent start`: for a shell, until `agent stop` or the shell's end."""

import signal
from pathlib import Path

import pytest

from tests.support.agents import LINE, list_leftovers, run_script


@pytest.mark.slow
@pytest.mark.parametrize("end", ["", "jsctl agent stop", "exit 3", "kill -KILL $$"])
def test_start_and_how_it_ends(folder: Path, end: str) -> None:
    script = f"""
    jsctl() {{ {LINE} "$@"; }}
    eval "$(jsctl agent start)"
    test -S "$JSCTL_AGENT" || exit 99
    jsctl version | head -1
    {end}
    """
    status = {"exit 3": 3, "kill -KILL $$": -signal.SIGKILL}.get(end, 0)
    assert run_script(script, folder, shell="bash", status=status, agent=False).startswith("jsctl ")


@pytest.mark.slow
def test_the_folder_of_a_killed_agent_goes_with_the_next_start(folder: Path) -> None:
    script = f"""
    jsctl() {{ {LINE} "$@"; }}
    eval "$(jsctl agent start)"
    jsctl agent run -- true
    test -S "$JSCTL_AGENT" || exit 99  # of one that runs, it stays
    kill -KILL $(cat "${{JSCTL_AGENT%/*}}/process")
    """
    run_script(script, folder, agent=False)
    assert [*folder.glob("jsctl-agent-*")]
    run_script("true", folder)
    assert not list_leftovers(folder)
