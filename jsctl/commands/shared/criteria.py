"""The flags that say which streams or consumers are meant, for find and cluster balance."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import click

from jsctl.commands.cli import DURATION, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import find
from jsctl.jetstream.api import Json
from jsctl.jetstream.expression import compile_expression

F = TypeVar("F", bound=Callable[..., Any])
Flag = tuple[str, dict[str, Any]]
COUNT = click.IntRange(min=0)


class Regex(click.ParamType[re.Pattern[str] | None]):
    """A regular expression; an empty one asks nothing."""

    name = "regex"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> re.Pattern[str] | None:
        try:
            return re.compile(value) if value else None
        except re.error as error:
            self.fail(f"{value!r} is no regular expression: {error}", param, ctx)


class Expression(click.ParamType[Callable[..., bool] | None]):
    """A condition, as `jetstream.expression` reads it; an empty one asks nothing."""

    name = "expression"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Callable[..., bool] | None:
        try:
            return compile_expression(value) if value else None
        except ValueError as error:
            self.fail(str(error), param, ctx)


_COMMON: Sequence[Flag] = (
    ("--created", {"type": DURATION, "metavar": "DURATION", "help": "Created at least so long ago"}),
    ("--replicas", {"type": COUNT, "metavar": "COUNT", "help": "With at most so many replicas"}),
    ("--leader", {"metavar": "SERVER", "help": "Led by this server"}),
    ("--invert/--no-invert", {"default": False, "help": "The opposite of every one of these"}),
    (
        "--expression",
        {"type": Expression(), "metavar": "EXPRESSION", "help": "For which this condition holds"},
    ),
    ("--api-level", {"type": COUNT, "metavar": "LEVEL", "help": "That need at least this API level"}),
)


class Criteria(NamedTuple):
    """What streams, or consumers, can be told apart by.

    unless: values of flags that ask nothing, as the peer has them.
    """

    flags: Sequence[Flag]
    tests: find.Tests
    unless: Mapping[str, int]

    def add(self, function: F) -> F:
        """Add the flags; `chosen` takes them as keywords."""
        for names, attrs in reversed((*self.flags, *_COMMON)):
            function = option(names, **attrs)(function)
        return function

    def chosen(self, env: Env, infos: Iterable[Json], flags: Mapping[str, Any]) -> list[Json]:
        """The infos that fit the flags. Raises BadInput for an expression that does not fit the infos."""
        wanted = {
            name: value
            for name, value in flags.items()
            if name in self.tests and value not in (None, "") and value is not False
            if name not in self.unless or value != self.unless[name]
        }
        try:
            return find.find(infos, self.tests, wanted, env.clock(), invert=flags["invert"])
        except ValueError as error:
            raise BadInput(str(error), "--help shows examples") from None
