"""Names in a shell script that stand for `nats`: variables, arrays, aliases, and functions that pass on their
arguments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jsctl.commands.compatibility.runners import RUNNERS, is_program
from jsctl.commands.compatibility.splitting import drop_prefixes, read_words, split

PROGRAM = re.compile(r"(?:(?<![\w./$-])|(?<=\t[-+]))(?:[\w.~/${}-]*/)?nats(?=[\"']?(?:\s|$))")
_VALUE = re.compile(
    r"(?<![^\s;&|(])(?P<alias>alias\s+)?(?P<name>[\w-]+)(?P<sign>[ \t]*[:?]?=[ \t]*)"
    r"(?P<value>\((?:[^()]|\([^)]*\))*\)|\"(?:\\.|[^\"\\])*\"|'[^']*'|\$\([^)\n]*\)|[^\n]*)",
    re.DOTALL,
)
_OPENING = re.compile(r"\$\{\w+:?-|\$\((?:command -v|which|type -[pP])\s")
"""What may stand before a program: the begin of a default, or a command that finds it."""

_PUNCTUATION = re.compile(r"[\"'(]|[)}](?=[\"'\s)};]|$)")
_FUNCTION = re.compile(r"(?<![^\s;&|])(?:function\s+([\w:.-]+)(?:\s*\(\s*\))?|([\w:.-]+)\s*\(\s*\))\s*\{")
_PASSED_ON = re.compile(r"(?P<rest>[^;|&\n]*?)\s\"?\$\{?[@*]")
_USE = re.compile(r"\"?\$(?:(\w+)|\{(\w+)(?:\[[@*]\])?\}|\((\w+)\))\"?(?=\s|$)")


class Holder(NamedTuple):
    """A name that stands for `nats`.

    start, end: the place of the program in its definition. rest: what is behind the program there, flags or a
    verb.
    """

    start: int
    end: int
    rest: str = ""


class Names(NamedTuple):
    """The names in a script. variables, words: those that are used as `$NAME` and as `NAME`. runners:
    functions that run the words behind their name."""

    variables: Mapping[str, Holder]
    words: Mapping[str, Holder]
    runners: frozenset[str]

    def find(self, word: str) -> Holder | None:
        """Return what the first word of a command stands for."""
        used = _USE.match(word)
        return self.variables.get(used[1] or used[2] or used[3]) if used else self.words.get(word)

    def find_passed_on(self, place: int, text: str) -> Holder | None:
        """Return what a function stands for that runs a command with its own arguments. place: of the
        command in the script."""
        words = drop_prefixes(read_words(text))
        for start, holder in self.list_places(text, words[0] if words else ""):
            program = PROGRAM.match(text, start) or _USE.match(text, start)
            passed = _PASSED_ON.match(text, program.end()) if program else None
            if not program or not passed:
                continue
            if is_program(drop_prefixes(read_words(text[:start])), read_words(text[program.end() :])):
                first, last = (holder.start, holder.end) if holder else (place + start, place + program.end())
                rest = (holder.rest if holder else "") + passed["rest"]
                return Holder(first, last, rest)
        return None

    def list_places(self, text: str, first: str) -> Iterator[tuple[int, Holder | None]]:
        """Yield the places in a command where a call of nats may begin. first: its first word."""
        if first in self.words:
            yield from ((one.start(), self.words[first]) for one in _find_word(first, text))
            return
        yield from ((one.start(), None) for one in PROGRAM.finditer(text))
        for one in _USE.finditer(text):
            if (holder := self.find(one[0])) is not None:
                yield one.start(), holder


def find_names(script: str) -> Names:
    """Return the names in a script that stand for nats."""
    variables: dict[str, Holder] = {}
    words: dict[str, Holder] = {}
    for found in _VALUE.finditer(script):
        if holder := _read_value(found):
            (words if found["alias"] else variables)[found["name"]] = holder
    names = Names(variables, words, frozenset())
    runners = set()
    for name, start, end in _find_functions(script):
        body = script[start:end]
        commands = [(start + each.start, body[each.start : each.end]) for each in split(body)]
        if holder := next(
            (one for place, text in commands if (one := names.find_passed_on(place, text))), None
        ):
            words[name] = holder
        elif any(_runs_arguments(text) for _, text in commands):
            runners.add(name)
    return Names(variables, words, frozenset(runners))


def _read_value(found: re.Match[str]) -> Holder | None:
    """Return what the name of a definition stands for; None if that is not nats."""
    value = found["value"]
    is_word = found["sign"] == "=" and value[:1] not in ("(", '"', "'", "$")
    if is_word:
        value = re.split(r"[\s;&|]", value, maxsplit=1)[0]
    blank = _PUNCTUATION.sub(" ", _OPENING.sub(lambda one: " " * len(one[0]), value))
    for program in PROGRAM.finditer(blank):
        before = drop_prefixes(blank[: program.start()].split())
        known = not before or before[0].startswith("$") or before[0].rpartition("/")[2] in RUNNERS
        if known and is_program(before, blank[program.end() :].split()):
            start = found.start("value")
            end = len(value) - (value[0] in "\"'(")
            rest = "" if is_word else value[program.end() : end].lstrip("\"'})")
            return Holder(start + program.start(), start + program.end(), rest)
    return None


def _find_functions(script: str) -> Iterator[tuple[str, int, int]]:
    """Yield the name of each function, and where its body begins and ends."""
    for found in _FUNCTION.finditer(script):
        depth, place = 1, found.end()
        while depth and place < len(script):
            depth += (script[place] == "{") - (script[place] == "}")
            place += 1
        yield found[1] or found[2], found.end(), place - 1


def _find_word(word: str, text: str) -> Sequence[re.Match[str]]:
    found = re.search(rf"(?<![\w./$-]){re.escape(word)}(?=\s|$)", text)
    return [found] if found else []


def _runs_arguments(text: str) -> bool:
    """Return whether a command of a function runs its arguments, or a text that one of them is."""
    words = drop_prefixes(read_words(text))
    run = words[1:2] if words[:1] == ["eval"] else words[2:3] if words[1:2] == ["-c"] else []
    return words[:1] in (["$@"], ["$*"]) or any(word.startswith("$") for word in run)
