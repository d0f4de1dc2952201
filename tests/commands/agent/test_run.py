"""`agent run`: how long an agent lives, and what it leaves."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.agents import JSCTL, LINE, list_leftovers, run_script
from tests.support.waiting import wait_for


@pytest.mark.slow
def test_it_ends_with_the_script(folder: Path) -> None:
    script = f'{LINE} version | head -1; test -S "$JSCTL_AGENT" && echo served; exit 7'
    shown = run_script(script, folder, status=7)
    assert shown.splitlines()[0].startswith("jsctl ") and "served" in shown
    assert not list_leftovers(folder), "it has ended before the command that started it"


@pytest.mark.slow
def test_a_script_that_is_killed(folder: Path) -> None:
    run_script("kill -KILL $$", folder, status=-signal.SIGKILL)


@pytest.mark.slow
def test_a_loop_over_a_kill_of_the_agent(folder: Path) -> None:
    loop = f"""
    for i in 1 2 3 4 5 6; do
      {LINE} version > /dev/null || echo failed $i
      [ $i != 3 ] || kill -KILL $(cat "$(dirname "$JSCTL_AGENT")/process")
    done
    echo done
    """
    assert run_script(loop, folder) == "done\n"


@pytest.mark.slow
def test_a_call_survives_its_agent(folder: Path, url: str) -> None:
    script = f"""
    cd '{folder}'
    {LINE} sub a.b --count 1 --server {url} 2> errors &
    until grep -q ubscrib errors; do sleep 0.1; done
    kill -KILL $(cat "$(dirname "$JSCTL_AGENT")/process")
    {LINE} pub a.b hello --server {url}
    wait $!
    echo ended $?
    """
    shown = run_script(script, folder)
    assert "hello" in shown and "\nended 0\n" in shown, shown


@pytest.mark.slow
def test_calls_in_the_background_end_after_the_script(folder: Path) -> None:
    file = folder / "later"
    run_script(f"(sleep 0.5; {LINE} version > '{file}') & echo begun", folder)
    wait_for(
        lambda: file.exists() and file.read_text().startswith("jsctl "), "it ran, with no agent any more"
    )


@pytest.mark.slow
def test_secrets_reach_the_script(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NATS_PASSWORD", "hidden-word")
    assert run_script("echo $NATS_PASSWORD", folder) == "hidden-word\n"


def test_a_command_that_does_not_exist(folder: Path) -> None:
    environ = {**os.environ, "TMPDIR": str(folder)}
    words = [*JSCTL, "agent", "run", "--", "./nope.sh"]
    ended = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "cannot run ./nope.sh" in ended.stderr
