"""Long help on a terminal, a screen at a time."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping

from jsctl.contexts.environment import forget_secrets

_PAGERS = ("less", "more")
_LESS = "FRX"
"""As git has it: end at once when all fits, keep colors, and leave the text on the screen."""


def page(text: str, environ: Mapping[str, str]) -> None:
    """Show a text with PAGER, or else `less` or `more`; without any, or with an empty PAGER, write it."""
    named = environ.get("PAGER")
    pagers = _PAGERS if named is None else (named,)
    if environ.get("TERM", "dumb") != "dumb":
        variables = {"LESS": _LESS, **environ}
        forget_secrets(variables)
        sys.stdout.flush()
        for pager in pagers:
            if _run(pager, text, variables):
                return
    sys.stdout.write(text)
    sys.stdout.flush()


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
