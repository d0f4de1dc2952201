"""The simple commands of a shell script, with their places in it."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jsctl.commands.compatibility.runners import RUNNERS

KEYWORDS = frozenset(("if", "then", "else", "elif", "do", "while", "until", "!", "{"))
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")

_HERE = re.compile(r"(?<!<)<<(?!<)-?\s*\\?[\"']?([\w.-]+)[\"']?")
_GLUED = re.compile(
    r"(\\.|'[^']*'|\"(?:\\.|[^\"\\])*\")|(?<![\s<>&])(?<!(?<!\S)\d)(?=&?[<>](?!\())", re.DOTALL
)
"""A quoted text, or the place before a redirection that follows a word without a blank."""

_REDIRECTION = re.compile(r"\d*&?[<>]+&?|\{\w+\}[<>]+&?")

_REDIRECTED = re.compile(r"[<>]&|.&>", re.DOTALL)


class Command(NamedTuple):
    """A simple command. start, end: its place. ended_by: what stands there. is_captured: whether it is in a
    substitution."""

    start: int
    end: int
    ended_by: str
    is_captured: bool


def read_words(text: str) -> list[str]:
    """Return the words of a command, without quotes."""
    text = _GLUED.sub(lambda one: one[1] or " ", text.replace("\\\n", " "))
    try:
        return shlex.split(text)
    except ValueError:  # a quote that another command ends
        return text.split()


def split(script: str) -> Iterator[Command]:
    """Yield the simple commands of a script, those in substitutions before those around them."""
    stack: list[tuple[int, str, bool]] = []  # start of the command around, what ends it, whether in quotes
    start, closer, quoted, here, place = 0, "", False, "", 0
    while place < len(script):
        char = script[place]
        if char == "\\":
            place += 2
            continue
        if char == "'" and not quoted:
            end = script.find("'", place + 1)
            place = len(script) if end < 0 else end + 1
            continue
        if char == '"':
            quoted = not quoted
        elif script.startswith("$(", place) and not script.startswith("$((", place):
            stack.append((start, closer, quoted))
            start, closer, quoted, place = place + 2, ")", False, place + 2
            continue
        elif char == "`":
            if closer == "`":
                yield Command(start, place, "`", True)
                start, closer, quoted = stack.pop()
            else:
                stack.append((start, closer, quoted))
                start, closer, quoted = place + 1, "`", False
        elif char == ")" and closer == ")" and not quoted:
            yield Command(start, place, ")", True)
            start, closer, quoted = stack.pop()
        elif not quoted and char == "#" and (place == 0 or script[place - 1] in " \t\n;"):
            yield Command(start, place, "#", bool(closer))
            end = script.find("\n", place)
            start = place = len(script) if end < 0 else end
            continue
        elif not quoted and (document := _HERE.match(script, place)):
            here, place = document[1], document.end()
            continue
        elif not quoted and char in "\n;|&()" and not (char == "&" and _REDIRECTED.match(script, place - 1)):
            double = script[place : place + 2] in ("&&", "||", ";;")
            yield Command(start, place, script[place : place + 2] if double else char, bool(closer))
            if char == "\n" and here and _is_run(script[start:place]):
                here = ""  # a shell reads it
            if char == "\n" and here:
                last = re.compile(rf"^\s*{re.escape(here)}\s*$", re.MULTILINE).search(script, place + 1)
                place, here = (last.end() - 1 if last else len(script)), ""
            place += double
            start = place + 1
        place += 1
    yield Command(start, len(script), "", bool(closer))


def drop_prefixes(words: Sequence[str]) -> list[str]:
    """Return the words of a command from its program on, without keywords, assignments, redirections, and
    `@`, `-` and `+` of a makefile."""
    rest = list(words)
    while rest:
        if redirected := _REDIRECTION.match(rest[0]):
            del rest[: 2 if redirected[0] == rest[0] else 1]
        elif rest[0] == "function":
            del rest[:2]
        elif rest[0] in KEYWORDS or ASSIGNMENT.match(rest[0]):
            rest.pop(0)
        else:
            break
    return [rest[0].lstrip("@-+") or rest[0], *rest[1:]] if rest else []


def _is_run(text: str) -> bool:
    """Return whether a command runs the here-document that it gets."""
    return any(word.rpartition("/")[2] in RUNNERS for word in drop_prefixes(read_words(text))[:1])
