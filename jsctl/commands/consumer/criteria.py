"""The flags that say which consumers are meant, for find and cluster balance."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from jsctl.commands.cli import DURATION, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import consumer_find as find
from jsctl.jetstream import consumers
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer_find import Criteria

F = TypeVar("F", bound=Callable[..., Any])
_COUNT = click.IntRange(min=0)

_FLAGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--pull", {"is_flag": True, "help": "Pull consumers"}),
    ("--push", {"is_flag": True, "help": "Push consumers"}),
    ("--bound", {"is_flag": True, "help": "With interest, or with pulls that wait"}),
    ("--waiting", {"type": _COUNT, "metavar": "COUNT", "help": "With fewer waiting pulls"}),
    ("--ack-pending", {"type": _COUNT, "metavar": "COUNT", "help": "With fewer pending acknowledgements"}),
    ("--pending", {"type": _COUNT, "metavar": "COUNT", "help": "With fewer unprocessed messages"}),
    ("--idle", {"type": DURATION, "metavar": "DURATION", "help": "Without a delivery for longer than this"}),
    ("--created", {"type": DURATION, "metavar": "DURATION", "help": "Created at least so long ago"}),
    ("--replicas", {"type": _COUNT, "metavar": "COUNT", "help": "With at most so many replicas"}),
    ("--leader", {"metavar": "SERVER", "default": "", "help": "Led by this server"}),
    ("--pinned", {"is_flag": True, "help": "Whose priority groups all have a pinned client"}),
    ("--invert/--no-invert", {"default": False, "help": "The opposite of every one of these"}),
    ("--expression", {"metavar": "EXPRESSION", "default": "", "help": "For which this condition holds"}),
    ("--api-level", {"type": _COUNT, "metavar": "LEVEL", "help": "That need at least this API level"}),
)


def criteria(function: F) -> F:
    """Add the flags; `chosen` takes them as keywords."""
    for name, attrs in reversed(_FLAGS):
        function = option(name, **attrs)(function)
    return function


async def chosen(env: Env, api: Api, stream: str, flags: dict[str, Any]) -> list[Json]:
    """The infos that fit, by name. Raises BadInput for flags that cannot be read."""
    for key in ("waiting", "ack_pending", "pending", "replicas", "api_level"):
        if flags[key] == 0:  # the peer's way to say that it does not matter
            flags[key] = None
    wanted = Criteria(**flags)
    try:
        find.find([], wanted, 0)  # before anything is asked
        found = await consumers.listing(api, stream)
        infos = sorted(found.infos, key=lambda info: str(info["name"]))
        return find.find(infos, wanted, env.clock())
    except ValueError as error:
        raise BadInput(str(error), "--help shows examples") from None
