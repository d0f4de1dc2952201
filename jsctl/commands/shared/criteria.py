"""The flags that say which streams or consumers are meant, for find and cluster balance."""

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import click

from jsctl.commands.cli import DURATION, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.find.criteria import Criteria
from jsctl.jetstream.find.expression import compile_expression

C = TypeVar("C", bound=Criteria)
Flag = tuple[str, dict[str, Any]]
"""A flag's names, and what `click.option` takes beside them."""

COUNT = click.IntRange(min=0)


class Regex(click.ParamType[re.Pattern[str] | None]):
    """A regular expression; an empty one asks for nothing."""

    name = "regex"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> re.Pattern[str] | None:
        try:
            return re.compile(value) if value else None
        except re.error as error:
            self.fail(f"{value!r} is not a valid regular expression: {error}", param, ctx)


class Expression(click.ParamType[Callable[..., bool] | None]):
    """A condition, as `jetstream.find.expression` reads it; an empty one asks for nothing."""

    name = "expression"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Callable[..., bool] | None:
        try:
            return compile_expression(value) if value else None
        except ValueError as error:
            self.fail(str(error), param, ctx)


_COMMON: Sequence[Flag] = (
    ("--created", {"type": DURATION, "metavar": "DURATION", "help": "Created at least this long ago"}),
    ("--replicas", {"type": COUNT, "metavar": "COUNT", "help": "With at most this many replicas"}),
    ("--leader", {"metavar": "SERVER", "help": "Led by this server"}),
    ("--invert/--no-invert", {"default": False, "help": "The opposite of each of these"}),
    (
        "--expression",
        {"type": Expression(), "metavar": "EXPRESSION", "help": "For which this condition holds"},
    ),
    ("--api-level", {"type": COUNT, "metavar": "LEVEL", "help": "That need at least this API level"}),
)


class CriteriaFlags(Generic[C]):
    """Flags that are parsed into criteria."""

    def __init__(self, kind: type[C], flags: Sequence[Flag], ignored: Mapping[str, int]) -> None:
        """flags: named as the fields of `kind`, beside those that all criteria share. ignored: values that
        ask for nothing, by field, as the `nats` tool has them."""
        self._kind = kind
        self._flags = (*flags, *_COMMON)
        self._ignored = ignored

    def add(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Add the flags to a command's function, which takes the criteria as `criteria`."""

        @functools.wraps(function)
        def with_criteria(*args: Any, **values: Any) -> Any:
            names = self._kind.__dataclass_fields__
            flags = {name: values.pop(name) for name in [*values] if name in names}
            return function(*args, criteria=self._parse(flags), **values)

        declared: Callable[..., Any] = with_criteria
        for names, attrs in reversed(self._flags):
            declared = option(names, **attrs)(declared)
        return declared

    def _parse(self, flags: Mapping[str, Any]) -> C:
        return self._kind(
            **{
                name: value
                for name, value in flags.items()
                if value not in (None, "") and (name not in self._ignored or value != self._ignored[name])
            }
        )


def matching(env: Env, criteria: Criteria, infos: Iterable[Json]) -> list[Json]:
    """Returns the infos that meet the criteria. Raises BadInput for an expression that does not fit them."""
    try:
        return criteria.matching(infos, env.clock())
    except ValueError as error:
        raise BadInput(str(error), "--help shows examples") from None
