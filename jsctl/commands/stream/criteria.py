"""The flags that say which streams are meant, for find and cluster balance."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from jsctl.commands.cli import DURATION, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import find, reports, streams
from jsctl.jetstream.api import Api
from jsctl.jetstream.find import Criteria
from jsctl.jetstream.names import is_subject

F = TypeVar("F", bound=Callable[..., Any])
_COUNT = click.IntRange(min=0)

_FLAGS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (
        ("--server-name",),
        {"metavar": "REGEX", "default": "", "help": "With a replica on such a server"},
    ),
    (("--cluster",), {"metavar": "REGEX", "default": "", "help": "In such a cluster"}),
    (("--empty",), {"is_flag": True, "help": "Without messages"}),
    (
        ("--idle",),
        {"type": DURATION, "metavar": "DURATION", "help": "Without a new message for longer than this"},
    ),
    (("--created",), {"type": DURATION, "metavar": "DURATION", "help": "Created at least so long ago"}),
    (
        ("--consumers",),
        {"type": click.IntRange(min=-1), "metavar": "COUNT", "help": "With at most so many consumers"},
    ),
    (
        ("--subject",),
        {"metavar": "SUBJECT", "default": "", "help": "Listening on this subject; wildcards too"},
    ),
    (("--replicas",), {"type": _COUNT, "metavar": "COUNT", "help": "With at most so many replicas"}),
    (("--sourced",), {"is_flag": True, "help": "With sources"}),
    (("--mirrored",), {"is_flag": True, "help": "That are mirrors"}),
    (("--leader",), {"metavar": "SERVER", "default": "", "help": "Led by this server"}),
    (("--invert/--no-invert",), {"default": False, "help": "The opposite of every one of these"}),
    (("--expression",), {"metavar": "EXPRESSION", "default": "", "help": "For which this condition holds"}),
    (("--api-level",), {"type": _COUNT, "metavar": "LEVEL", "help": "That need at least this API level"}),
)


def criteria(function: F) -> F:
    """Add the flags; `chosen` takes them as keywords."""
    for names, attrs in reversed(_FLAGS):
        function = option(*names, **attrs)(function)
    return function


async def chosen(env: Env, api: Api, flags: dict[str, Any]) -> reports.Snapshot:
    """The snapshot with the streams that fit. Raises BadInput for flags that cannot be read."""
    for key, nothing in (("consumers", -1), ("replicas", 0), ("api_level", 0)):
        if flags[key] == nothing:  # the peer's way to say that it does not matter
            flags[key] = None
    wanted = Criteria(**flags)
    if wanted.subject and not is_subject(wanted.subject):
        raise BadInput(f"{wanted.subject!r} is no subject")
    try:
        find.find([], wanted, 0)  # before anything is asked
    except ValueError as error:
        raise BadInput(str(error), "--help shows examples") from None
    snap = await reports.snapshot(api)
    everything = env.flags.get("all_streams")
    infos = [
        info for info in snap.infos if everything or not streams.is_internal(str(info["config"]["name"]))
    ]
    try:
        found = find.find(infos, wanted, env.clock())
    except ValueError as error:
        raise BadInput(str(error)) from None
    return reports.Snapshot(snap.at, found)
