"""The standard streams of a run, their encoding, and the width of the terminal."""

import codecs
import os
import sys
from collections.abc import Mapping
from typing import TextIO

_ERRORS = "jsctl.bytes"
"""The name of the error handler of stdout."""


def is_dumb(environ: Mapping[str, str]) -> bool:
    """Return whether a terminal can only show lines: by TERM, which Windows has not."""
    return environ.get("TERM", "" if os.name == "posix" else "windows") in ("", "dumb", "unknown")


def _encode_bytes(error: UnicodeError) -> tuple[bytes, int]:
    """Return the bytes that unpaired surrogates stand for, as `surrogateescape` does, and others escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    codes = map(ord, error.object[error.start : error.end])
    parts = [bytes([code - 0xDC00]) if 0xDC80 <= code <= 0xDCFF else b"\\u%04x" % code for code in codes]
    return b"".join(parts), error.end


def start_in_utf8_mode() -> None:
    """Start this program again in Python's UTF-8 mode, in which arguments, variables and paths stay the bytes
    that they are.

    With the encoding of a Latin-1 locale, the two bytes of an `é` in an argument would be two characters, and
    stored as four bytes. NATS, its files and its other clients use UTF-8. PYTHONUTF8 would be inherited by
    other programs.
    """
    if sys.executable and not sys.flags.utf8_mode:
        try:
            os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
        except OSError:
            return


def has_file(stream: TextIO) -> bool:
    """Return whether a stream is a file of the system, which other programs can have, too."""
    try:
        stream.fileno()
    except (OSError, ValueError):
        return False
    return True


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
        """Return the streams of the process, with the null device in place of one that is closed (`>&-`).

        They are UTF-8 whatever the locale or PYTHONIOENCODING says: data is. Writing bytes that are not, as
        unpaired surrogates, writes these bytes.
        """
        codecs.register_error(_ERRORS, _encode_bytes)
        for stream, errors in (
            (sys.stdin, "surrogateescape"),
            (sys.stdout, _ERRORS),
            (sys.stderr, "backslashreplace"),
        ):
            if reconfigure := getattr(stream, "reconfigure", None):
                reconfigure(encoding="utf-8", errors=errors)
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
