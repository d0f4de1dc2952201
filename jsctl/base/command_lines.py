"""The command lines of jsctl that are shown for pasting: what hints, fixes and the key `y` offer.

Nothing else puts a name behind `jsctl`: names come from servers and files, and a shell would run what they
contain. A test of the architecture holds that.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

UNSAFE = "[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
"""A character that could move a cursor, hide text or reorder it: controls, line separators, directional
overrides and isolates, tags. No terminal sees one.
"""

PLAIN = bytes(code for code in range(128) if chr(code).isprintable()) + b"\t\n"
"""The ASCII characters that a text of several lines may have."""

_SPECIAL = ("-", "@")
"""How words begin that are more than text on a command line: flags, and files of arguments."""

_PLAIN = r"(?a:[\w@%+:,./-][\w@%+=:,./-]*)"
"""A word that no shell changes; zsh takes one with a leading `=` for a program."""


def _add_nothing(verb: str) -> Sequence[str]:
    return ()


_find_place = ContextVar[Callable[[str], Sequence[str]]]("find_place", default=_add_nothing)


@contextmanager
def adding_place_flags(find_place: Callable[[str], Sequence[str]]) -> Iterator[None]:
    """Have `build_line` add the flags of the place where the present command works.

    find_place: returns those that a verb takes, such as "stream info".
    """
    token = _find_place.set(find_place)
    try:
        yield
    finally:
        _find_place.reset(token)


def build_line(
    verb: str,
    *names: str,
    flags: Sequence[str] = (),
    place: Sequence[str] | None = None,
    program: str = "jsctl",
) -> str:
    """Return the command line `jsctl VERB NAMES FLAGS PLACE`, which a shell reads as exactly these words.

    program: what starts jsctl, quoted. The others: see `build_words`.
    """
    return format_arguments(build_words(verb, *names, flags=flags, place=place), program)


def build_words(
    verb: str, *names: str, flags: Sequence[str] = (), place: Sequence[str] | None = None
) -> list[str]:
    """Return the words of a command line, without `jsctl`.

    verb: its words, "stream info". names: arguments, which may be any text. flags: such as ["--replicas",
    "3"]; see `build_flag`. place: flags that say where it works; None for where the present command does.
    """
    all_flags = [*flags, *(_find_place.get()(verb) if place is None else place)]
    words = (
        [*all_flags, "--", *names]
        if any(name.startswith(_SPECIAL) for name in names)
        else [*names, *all_flags]
    )
    return [*verb.split(), *words]


def format_arguments(arguments: Sequence[str], program: str = "jsctl") -> str:
    """Return the command line with these arguments, which a shell reads as exactly these."""
    line = " ".join([program, *map(_quote, arguments)])
    if not re.search(UNSAFE, line):
        return line
    # Quoted, such a character would reach the shell as the text that a terminal shows in its place.
    return f"eval \"$(printf '{''.join(map(_escape, line))}')\""


def build_flag(name: str, value: object) -> list[str]:
    """Return the words of a flag: `--user NAME`, in one word when the value begins with a dash or `@`."""
    text = str(value)
    return [f"{name}={text}"] if text.startswith(_SPECIAL) else [name, text]


def _quote(word: str) -> str:
    return word if re.fullmatch(_PLAIN, word) else "'" + word.replace("'", "'\"'\"'") + "'"


def _escape(char: str) -> str:
    """Return a character as `printf` of every shell reads it."""
    is_plain = re.fullmatch(r"[\w ,./:=@-]", char) if char.isascii() else not re.match(UNSAFE, char)
    return char if is_plain else "".join(f"\\{byte:03o}" for byte in os.fsencode(char))


ASKING = frozenset(
    (
        *("stream edit", "stream rm", "consumer edit", "consumer reset", "consumer resume", "consumer rm"),
        *("consumer unpin", "server cluster peer-remove", "server config reload"),
    )
)
"""Verbs that ask before they change something, so that they need -f where nobody can answer."""


WITHOUT_TERMINAL = " (without a terminal, add -f)"


_ASKING_LINE = rf"\bjsctl ({'|'.join(sorted(ASKING))})\b(?! [^&;]*(--force|-f)\b)"


def asks(text: str) -> bool:
    """Return whether a command line in a text asks before it changes something."""
    return re.search(_ASKING_LINE, text) is not None


def note_questions(text: str) -> str:
    """Return a text for people with what its command lines need without a terminal, before those that do:
    lines stay whole for pasting."""
    starts = {text.rfind(": jsctl ", 0, found.end()) for found in re.finditer(_ASKING_LINE, text)}
    for start in sorted(starts - {-1}, reverse=True):
        text = f"{text[:start]}{WITHOUT_TERMINAL}{text[start:]}"
    return text


SYSTEM_PLACE = ("--context", "system")
"""The place of a command line for the system account, if no context of it is known."""


class Suggestion(NamedTuple):
    """A command line for a place that is named later.

    verb, names, flags: as in `build_line`. purpose: what it does, such as "look at it", where there are
    several to choose from. is_safe: whether `doctor --fix` may run it: it loses nothing, and nobody has to
    choose first. undo: what makes it as it was; None if nothing does.
    """

    verb: str
    names: Sequence[str] = ()
    flags: Sequence[str] = ()
    purpose: str = ""
    is_safe: bool = False
    undo: "Suggestion | None" = None

    @property
    def asks_servers(self) -> bool:
        """Whether it needs the system account, which has no streams: another login than theirs."""
        return self.verb.startswith("server ")

    def at(self, place: Sequence[str] | None = None) -> str:
        """Return the command line; place: as in `build_line`, of a login that sees streams."""
        place = SYSTEM_PLACE if self.asks_servers else place
        return build_line(self.verb, *self.names, flags=self.flags, place=place)

    def explain(self, place: Sequence[str] | None = None) -> str:
        """Return the command line, for people who may have to make its context first."""
        return self.at(place) + (" (with a context of the system account)" if self.asks_servers else "")
