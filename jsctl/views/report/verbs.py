"""The keys of the live report that change something: a verb's dry run, and the name that confirms it.

Pure: `commands/report/acting.py` runs the lines.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from jsctl.base.command_lines import build_line, build_words
from jsctl.contexts.settings import FLAGS
from jsctl.views.board import Board, Link
from jsctl.views.result import Lines, Part, Result, Text


@dataclass(frozen=True, slots=True)
class ChangePage:
    """A change of a place. verb: its words. names: of what it changes; the last one confirms. flags: what
    was typed. forced: the flags that stand for the confirmation. number: 0 for the dry run."""

    place: int
    verb: str
    names: tuple[str, ...]
    flags: tuple[str, ...] = ()
    forced: tuple[str, ...] = ("--force",)
    number: int = 0


class Outcome(NamedTuple):
    """What a command line did. text: its output. error: why it failed; empty if it did not. is_kept: whether
    the journal has it."""

    line: str
    text: str
    error: str = ""
    is_kept: bool = True


_FOREIGN = frozenset({"--dry-run", "--force", "--interactive", "--help", "--context"}) | {
    name for flag in FLAGS.values() for name in flag.names
}
"""Flags that are not typed: those of the dry run and of the confirmation, and those that lead elsewhere."""


class _Verb(NamedTuple):
    """A verb with a key. ask: for what is typed after its names. fixed: flags that it always has. loss:
    whether it has --allow-data-loss. shown: flags of the line that is shown where nothing is typed."""

    verb: str
    help: str
    ask: str = ""
    fixed: tuple[str, ...] = ()
    loss: bool = False
    shown: tuple[str, ...] = ()


_STREAM: Mapping[str, _Verb] = {
    "L": _Verb("stream cluster step-down", "make the stream's leader step down"),
    "X": _Verb("stream purge", "remove all messages of the stream"),
    "D": _Verb("stream rm", "remove the stream"),
    "E": _Verb(
        "stream edit",
        "change the stream",
        "what to change, such as --max-age 7d",
        loss=True,
        shown=("--interactive",),
    ),
}
_CONSUMER: Mapping[str, _Verb] = {
    "P": _Verb("consumer pause", "pause the consumer", "until when, or for how long, such as 1h"),
    "U": _Verb("consumer resume", "resume the consumer"),
    "L": _Verb("consumer cluster step-down", "make the consumer's leader step down"),
    "D": _Verb("consumer rm", "remove the consumer", loss=True),
    "R": _Verb("consumer reset", "reset the consumer", "--sequence N, --time 2h or --end", loss=True),
    "V": _Verb(
        "redrive",
        "publish again what it gave up",
        "--to-consumer or --subject S",
        fixed=("--dead",),
        shown=("--to-consumer",),
    ),
    "E": _Verb(
        "consumer edit",
        "change the consumer",
        "what to change, such as --max-pending 100",
        loss=True,
        shown=("--interactive",),
    ),
}


def link_changes(place: int, flags: Sequence[str], stream: str, consumer: str) -> dict[str, Link]:
    """Return the keys that change a stream or a consumer. flags: of command lines for the place."""
    names = (stream, consumer) if consumer else (stream,)
    verbs = _CONSUMER if consumer else _STREAM
    return {key: _link(verb, place, flags, names) for key, verb in verbs.items()}


def _link(verb: _Verb, place: int, flags: Sequence[str], names: tuple[str, ...]) -> Link:
    page = ChangePage(place, verb.verb, names, verb.fixed, ("--force", *["--allow-data-loss"] * verb.loss))

    def answer(text: str) -> ChangePage:
        words = shlex.split(text)
        if verb.verb == "consumer pause":
            return replace(page, names=(*names, " ".join(words)))
        if not words[0].startswith("-"):
            raise ValueError("write flags, which begin with --")
        for word in words:
            if re.match(r"-[a-zA-Z]|--$", word):
                raise ValueError(f"{word} cannot be used here; write flags in full")
            if word.partition("=")[0] in _FOREIGN:
                raise ValueError(f"{word} cannot be used here")
        return replace(page, flags=(*page.flags, *words))

    line = build_line(verb.verb, *names, flags=[*verb.fixed, *verb.shown], place=flags)
    title = verb.verb.split()[-1]
    return Link(title, verb.help, page, ask=verb.ask, answer=answer, line=line)


def build_command(page: ChangePage, flags: Sequence[str], *, is_dry: bool) -> list[str]:
    """Return the words of the command line. flags: of the place."""
    last = ("--dry-run",) if is_dry else page.forced
    return build_words(page.verb, *page.names, flags=[*page.flags, *last], place=flags)


def show_dry_run(page: ChangePage, dry_run: Outcome, number: Callable[[], int], board: Board) -> Board:
    """Return the board of a dry run, from which the typed name leads to the change. number: returns that of
    the change."""
    name = page.names[len(page.names) > 1]

    def answer(text: str) -> ChangePage:
        if text != name:
            raise ValueError(f"that is not {name}; nothing was changed")
        return replace(page, number=number())

    parts: list[Part] = [Text(dry_run.line, "bold"), Lines(dry_run.text.splitlines())]
    links = {}
    if dry_run.error:
        parts.append(Text(dry_run.error, "bad"))
    else:
        parts.append(Text(f"! does it, after you have typed {name}", "warn"))
        ask = f"type {name} to {page.verb.split()[-1].replace('-', ' ')}"
        links["!"] = Link(
            "do it", "do what is shown, after its name was typed", ask=ask, answer=answer, replaces=True
        )
    return board._replace(
        page=Result(parts), links=links, page_key=page, line=dry_run.line, heading=page.verb
    )


def show_outcome(page: ChangePage, outcome: Outcome, journal: str, board: Board) -> Board:
    """Return the board of a change that was made. journal: its file."""
    parts: list[Part] = [Text(outcome.line, "bold"), Lines(outcome.text.splitlines())]
    parts.append(Text(outcome.error, "bad") if outcome.error else Text("done", "good"))
    parts += [Text(f"written to {journal}", "dim")] * outcome.is_kept
    return board._replace(page=Result(parts), page_key=page, line=outcome.line, heading=page.verb)
