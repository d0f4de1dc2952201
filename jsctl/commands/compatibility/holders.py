"""Names in a shell script that stand for `nats`: variables, arrays, aliases, and functions that pass on their
arguments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jsctl.commands.compatibility.runners import RUNNERS
from jsctl.commands.compatibility.splitting import drop_prefixes, read_words, split

PROGRAM = re.compile(r"(?:(?<![\w./$-])|(?<=\t[-+]))(?:[\w.~/-]*/)?nats(?=\s|$)")
_VALUE = re.compile(
    r"(?<![^\s;&|(])(?P<alias>alias\s+)?(?P<name>[\w-]+)(?P<sign>[ \t]*[:?]?=[ \t]*)"
    r"(?P<open>\(\s*[\"']?|[\"']?)"
    + rf"(?:(?:{'|'.join(sorted(RUNNERS))})\s[^\"'\n]*?(?<=\s))?"
    + r"(?:\$\{\w+:?-)?(?:\$\((?:command -v|which) )?"
    r"(?P<program>(?:[\w.~/-]*/)?nats)(?![^\s;\"'})])"
)
_FUNCTION = re.compile(r"(?<![^\s;&|])(?:function\s+([\w:.-]+)(?:\s*\(\s*\))?|([\w:.-]+)\s*\(\s*\))\s*\{")
_PASSED_ON = re.compile(PROGRAM.pattern + r"(?P<rest>[^;|&\n]*?)\s\"?\$\{?[@*]")
_USE = re.compile(r"\"?\$(?:(\w+)|\{(\w+)(?:\[[@*]\])?\}|\((\w+)\))\"?(?=\s|$)")


class Holder(NamedTuple):
    """A name that stands for `nats`.

    start, end: the place of the program in its definition. rest: what is behind the program there, flags or a
    verb. is_function: whether it is a function.
    """

    start: int
    end: int
    rest: str = ""
    is_function: bool = False


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
        holder = Holder(found.start("program"), found.end("program"), _read_rest(script, found))
        (words if found["alias"] else variables)[found["name"]] = holder
    runners = set()
    for name, start, end in _find_functions(script):
        body = script[start:end]
        if passed := _PASSED_ON.search(body):
            place = start + passed.start()
            words[name] = Holder(place, start + passed.start("rest"), passed["rest"], is_function=True)
        elif any(_runs_arguments(body[command.start : command.end]) for command in split(body)):
            runners.add(name)
    return Names(variables, words, frozenset(runners))


def _read_rest(script: str, found: re.Match[str]) -> str:
    """Return what is behind the program in a definition."""
    behind = script[found.end() :].split("\n\n", 1)[0]
    opened = found["open"][:1]
    if opened:
        return behind.partition(")" if opened == "(" else opened)[0].lstrip("\"'})")
    return behind.partition("\n")[0] if found["sign"] != "=" else ""


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
    return drop_prefixes(read_words(text))[:1] in (["$@"], ["$*"])
