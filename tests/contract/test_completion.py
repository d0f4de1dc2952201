"""The files in completions/ are what `jsctl completion` prints, and they complete."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.commands.completion import SHELLS
from tests.support.run import Cli

FOLDER = Path(__file__).parents[2] / "completions"


@pytest.mark.parametrize("shell", SHELLS)
def test_files_are_as_generated(shell: str, offline_cli: Cli) -> None:
    assert (FOLDER / SHELLS[shell]).read_text() == offline_cli(["completion", shell], status=0).out


def test_nothing_else_is_there() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(SHELLS.values())


def complete(words: str, at: int, home: Path) -> list[str]:
    made = subprocess.run(
        [sys.executable, "-m", "jsctl"],
        env={
            **os.environ,
            "_JSCTL_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(at),
            "XDG_CONFIG_HOME": str(home),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split(",", 1)[1] for line in made.stdout.splitlines()]


def test_commands_and_flags_complete(tmp_path: Path) -> None:
    assert "stream" in complete("jsctl str", 1, tmp_path)
    assert "ls" in complete("jsctl stream l", 2, tmp_path)
    assert "--names" in complete("jsctl stream ls --na", 3, tmp_path)


def test_context_names_complete(tmp_path: Path, offline_cli: Cli) -> None:
    offline_cli("context add edge --server nats://127.0.0.1:1", status=0)
    assert complete("jsctl --context e", 2, offline_cli.home) == ["edge"]
    assert complete("jsctl context rm e", 3, offline_cli.home) == ["edge"]
