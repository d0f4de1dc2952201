"""The flags that choose streams or consumers, for find and cluster balance."""

from collections.abc import Iterable
from typing import Any

import click

from jsctl.base.patterns import compile_pattern
from jsctl.commands.cli import DURATION, declare_all, option
from jsctl.commands.cli.values import Parsed
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.find.criteria import Criteria
from jsctl.jetstream.find.expression import compile_expression


class Count(click.ParamType[int | None]):
    """A number; the value that matches everything, as in the `nats` tool, becomes None."""

    name = "integer"

    def __init__(self, unset: int = 0) -> None:
        self._unset = unset
        self._range = click.IntRange(min=min(unset, 0), max=(1 << 63) - 1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        count = int(self._range.convert(value, param, ctx))
        return None if count == self._unset else count


REGEX = Parsed("regex", lambda text: compile_pattern(text) if text else None)
"""A regular expression; an empty one matches everything."""

EXPRESSION = Parsed("expression", lambda text: compile_expression(text) if text else None)
"""A condition, as `jetstream.find.expression` reads it; an empty one matches everything."""

common_criteria_flags = declare_all(
    option("--created", type=DURATION, metavar="DURATION", help="Created at least this long ago"),
    option("--replicas", type=Count(), metavar="COUNT", help="With at most this many replicas"),
    option("--leader", metavar="SERVER", help="Led by this server"),
    option("--invert/--no-invert", default=False, help="Invert each of these conditions"),
    option("--expression", type=EXPRESSION, metavar="EXPRESSION", help="For which this condition holds"),
    option("--api-level", type=Count(), metavar="LEVEL", help="Requiring this API level or a higher one"),
)
"""The flags that all criteria share, under the names of the fields of `Criteria`."""


def find_matching(env: Env, criteria: Criteria, infos: Iterable[Json]) -> list[Json]:
    """Return the infos that meet the criteria. Raises BadInput for an expression that does not fit them."""
    try:
        return criteria.filter_infos(infos, env.clock())
    except ValueError as error:
        raise BadInput(str(error), "--help shows examples") from None
