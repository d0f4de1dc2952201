"""Long help and pages of the manual on a terminal, a screen at a time."""

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from typing import TextIO

from jsctl.base.standard_streams import is_dumb
from jsctl.contexts.environment import forget_secrets

_PAGERS = ("less", "more")
_LESS = "FRX"
"""As git has it: end at once when all fits, keep colors, and leave the text on the screen."""


def show_page(text: str, out: TextIO, environ: Mapping[str, str]) -> bool:
    """Show a text that has more lines than the terminal with PAGER, or else `less` or `more`.

    Returns whether it did; a terminal without any, or an empty PAGER, leaves it to the caller.
    """
    named = environ.get("PAGER")
    if is_dumb(environ) or not _is_taller_than_screen(text, out):
        return False
    variables = {"LESS": _LESS, **environ}
    forget_secrets(variables)
    out.flush()
    return any(_run(pager, text, variables) for pager in (_PAGERS if named is None else (named,)))


def _is_taller_than_screen(text: str, out: TextIO) -> bool:
    try:
        return text.count("\n") >= os.get_terminal_size(out.fileno()).lines
    except (OSError, ValueError):  # no terminal, and no file
        return False


def _run(pager: str, text: str, variables: dict[str, str]) -> bool:
    """Show a text with a pager. Returns whether there is such a program."""
    try:
        words = shlex.split(pager, posix=os.name != "nt")
    except ValueError:
        return False
    if not words:
        return False
    before = signal.signal(signal.SIGINT, lambda number, frame: None)  # ctrl-C is the pager's
    try:
        done = subprocess.run(words, input=text.encode(errors="replace"), env=variables, check=False)
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return done.returncode != 127
