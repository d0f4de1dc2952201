"""Whether the background of a terminal is light: JSCTL_BACKGROUND says it, or the terminal answers (OSC 11 of
xterm), or COLORFGBG of rxvt and Konsole says it."""

import re
from collections.abc import Callable, Mapping
from typing import Protocol

from jsctl.errors import BadInput

VARIABLE = "JSCTL_BACKGROUND"
QUESTION = "\x1b]11;?\x07"
WAIT = 0.25
"""Seconds in which an answer is awaited at the end, where it would be read as typed into the shell."""

_ANSWER = re.compile(r"\x1b\]11;rgba?:([0-9a-f]+)/([0-9a-f]+)/([0-9a-f]+)[^\x07\x1b]*(?:\x07|\x1b\\)", re.I)
_BEGINNING = re.compile(r"\x1b\]1[^\x07\\]*$")
_WEIGHTS = (0.299, 0.587, 0.114)  # of red, green, blue in brightness (ITU-R BT.601)


def read_choice(environ: Mapping[str, str]) -> bool | None:
    """Return whether the user says that the background is light; None if not said. Raises BadInput."""
    choice = environ.get(VARIABLE, "")
    if choice not in ("", "light", "dark"):
        raise BadInput(f"{VARIABLE} is {choice!r}", "set it to light or dark")
    return choice == "light" if choice else None


def guess_is_light(environ: Mapping[str, str]) -> bool:
    """Return whether COLORFGBG, such as `0;15`, names a light background; False without it."""
    return environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")


class Reader(Protocol):
    """What prompt_toolkit reads keys with."""

    closed: bool

    def read(self, count: int = 1024) -> str:
        """Return what is there to read."""


class AnswerReader:
    """Reads keys, and takes out what the terminal answers to QUESTION. take: called with whether the
    background is light."""

    def __init__(self, reader: Reader, take: Callable[[bool], None]) -> None:
        self._reader = reader
        self._take = take
        self._begun = ""
        self._ends_in_escape = False

    @property
    def closed(self) -> bool:
        """Whether there is nothing more to read."""
        return self._reader.closed

    def read(self, count: int = 1024) -> str:
        """Return what is there to read, without an answer, or the beginning of one.

        An escape at the end is returned at once, as it may be the key: an answer may follow without it.
        """
        text = self._begun + self._reader.read(count)
        lead = "\x1b" * (self._ends_in_escape and text.startswith("]1"))
        self._begun, self._ends_in_escape = "", text.endswith("\x1b")
        return self._remove_answer(lead + text).removeprefix(lead)

    def _remove_answer(self, text: str) -> str:
        if answer := _ANSWER.search(text):
            shares = [int(value, 16) / (16 ** len(value) - 1) for value in answer.groups()]
            self._take(sum(map(float.__mul__, _WEIGHTS, shares)) > 0.5)
            return text[: answer.start()] + text[answer.end() :]
        if beginning := _BEGINNING.search(text):
            self._begun = beginning[0]
            return text[: beginning.start()]
        return text
