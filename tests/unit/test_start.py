"""How the process begins."""

import os
import signal
import subprocess
import sys
from pathlib import Path


def test_ctrl_c_before_all_is_imported_ends_it_without_a_word(tmp_path: Path) -> None:
    # In the place of a module that jsctl imports first: one that gets ctrl-C on the way.
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    ended = subprocess.run(
        [sys.executable, "-m", "jsctl", "--version"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's `&` ignores it
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, b"", b"")
