"""The standard streams of a run, and the width of the terminal."""

import os
import sys
from collections.abc import Mapping
from typing import TextIO


class Streams:
    """The standard streams of a run. Each knows whether it is a terminal.

    width: columns of the terminal; None looks them up.
    """

    # A plain class, as importing dataclasses takes 3 ms at every start.
    def __init__(self, stdin: TextIO, stdout: TextIO, stderr: TextIO, width: int | None = None) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.width = width

    @classmethod
    def real(cls) -> "Streams":
        """Return the streams of the process, with the null device in place of one that is closed (`>&-`)."""
        stdin, stdout, stderr = sys.stdin, sys.stdout, sys.stderr
        if None in (stdin, stdout, stderr):
            from pathlib import Path

            null = Path(os.devnull).open("r+")  # noqa: SIM115
            return cls(stdin or null, stdout or null, stderr or null)
        return cls(stdin, stdout, stderr)

    def columns(self, stream: TextIO, environ: Mapping[str, str]) -> int:
        """Return the columns of the terminal that a stream is; 100 if there is none."""
        if self.width:
            return self.width
        # shutil would import every compression library.
        columns = environ.get("COLUMNS", "")
        if columns.isdigit() and int(columns):
            return int(columns)
        try:
            return os.get_terminal_size(stream.fileno()).columns or 100
        except (OSError, ValueError):
            return 100
