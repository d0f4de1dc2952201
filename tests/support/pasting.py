"""Paste lines into a real shell, with a jsctl in its PATH that records how it was called."""

import os
import subprocess
from pathlib import Path

HOSTILE = (
    "E;touch${IFS}pwned;#",
    "-x",
    "@x",
    "--force",
    "--",
    "a b",
    " a",
    "",
    "$(touch pwned)",
    "`touch pwned`",
    "it's",
    "'",
    '"',
    "''\"$HOME\"",
    "\\",
    "a\\nb",
    "a\nb",
    "a\n",
    "\n",
    "a\n\n",
    "a\r\tb",
    "\x1b[2J",
    "\x01;touch pwned",
    "-\n",
    "100%s",
    "a%\x07%s",
    "!!",
    "~root",
    "=ls",
    "*",
    "[a-z]*",
    "{a,b}",
    "a&b|c>pwned",
    "#a",
    "<a;touch pwned",
    "bücket €",
    "\u202eevil",
    "\U000e0041tag",
    "\u0085\u2028",
    "\U0001f468\u200d\U0001f469",
)
"""Names, as a server or a file may have them."""

_STUB = """#!/bin/sh
printf '%s\\0' "$#" "$@" >> "$CALLS"
"""


def run_pasted(folder: Path, line: str) -> list[list[str]]:
    """Run a line with /bin/sh in a folder, and return the arguments of each call of jsctl.

    The shell finds no other programs than jsctl and `touch`; no file may appear.
    """
    programs, here, calls = folder / "bin", folder / "here", folder / "calls"
    programs.mkdir(exist_ok=True)
    here.mkdir(exist_ok=True)
    calls.write_bytes(b"")
    if not (stub := programs / "jsctl").exists():
        stub.write_text(_STUB)
        stub.chmod(0o755)
        (programs / "touch").symlink_to("/usr/bin/touch")
    done = subprocess.run(
        ["/bin/sh", "-c", os.fsencode(line)],
        cwd=here,
        env={"PATH": str(programs), "CALLS": str(calls), "HOME": str(here)},
        capture_output=True,
        check=False,
    )
    assert not list(here.iterdir()), f"{line!r} wrote files"
    assert (done.returncode, done.stderr) == (0, b""), f"{line!r}: {done}"
    words = iter(os.fsdecode(calls.read_bytes()).split("\0")[:-1])
    return [[next(words) for _ in range(int(count))] for count in words]
