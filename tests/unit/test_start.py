"""How the process begins."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def test_ctrl_c_before_all_is_imported_ends_it_silently(tmp_path: Path) -> None:
    # In the place of a module that jsctl imports first: one that gets ctrl-C on the way.
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    ended = subprocess.run(
        [sys.executable, "-m", "jsctl", "--version"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's `&` ignores it
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


DROPPED = """
import os, signal, time

class Dropping:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

Dropping()
time.sleep(10)
"""


def test_an_interrupt_that_python_drops_is_repeated(tmp_path: Path) -> None:
    """A KeyboardInterrupt in a destructor is reported and forgotten."""
    (tmp_path / "dropping.py").write_text(DROPPED)
    line = "from jsctl import app; app.run = lambda args, env: __import__('dropping'); app.main()"
    ended = subprocess.run(
        [sys.executable, "-c", line],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        capture_output=True,
        timeout=9,
        check=False,
    )
    assert ended.returncode == -signal.SIGINT and b"ignored" not in ended.stderr


def test_ctrl_c_before_a_verb_begins_ends_it_silently(tmp_path: Path) -> None:
    # A module of a verb that gets ctrl-C while it is imported.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, types, os, signal\n"
        "class Finder:\n"
        "    def find_spec(self, name, *more):\n"
        "        if name == 'jsctl.commands.rtt': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "jsctl", "rtt"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


def test_ctrl_c_while_a_dataclass_is_made_ends_it_with_the_status_of_an_interrupt(tmp_path: Path) -> None:
    """`python -m` would end by SIGINT itself: a dataclass executes text, and Python notes how it ended."""
    (tmp_path / "sitecustomize.py").write_text(
        "from jsctl.commands import rtt\n"
        "rtt.rtt.callback = lambda *args, **flags: exec('raise KeyboardInterrupt')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "jsctl", "rtt"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (130, "\n")


@pytest.mark.slow
def test_ctrl_c_between_the_import_of_the_script_and_its_call_ends_it_silently() -> None:
    """Scripts of installers compile a regular expression there."""
    line = "import os, signal; import jsctl.__main__; os.kill(os.getpid(), signal.SIGINT)"
    ended = subprocess.run(
        [sys.executable, "-c", line],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (130, b"")
