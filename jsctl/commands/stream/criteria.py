"""Which streams are meant, for find and cluster balance."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import click

from jsctl.commands.cli import DURATION
from jsctl.commands.shared.criteria import Criteria, Regex
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import find
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import is_subject

CRITERIA = Criteria(
    (
        ("--server-name", {"type": Regex(), "metavar": "REGEX", "help": "With a replica on such a server"}),
        ("--cluster", {"type": Regex(), "metavar": "REGEX", "help": "In such a cluster"}),
        ("--empty", {"is_flag": True, "help": "Without messages"}),
        (
            "--idle",
            {"type": DURATION, "metavar": "DURATION", "help": "Without a new message for longer than this"},
        ),
        (
            "--consumers",
            {"type": click.IntRange(min=-1), "metavar": "COUNT", "help": "With at most so many consumers"},
        ),
        ("--subject", {"metavar": "SUBJECT", "help": "Listening on this subject; wildcards too"}),
        ("--sourced", {"is_flag": True, "help": "With sources"}),
        ("--mirrored", {"is_flag": True, "help": "That are mirrors"}),
    ),
    find.STREAMS,
    unless={"consumers": -1, "replicas": 0, "api_level": 0},
)


async def chosen(env: Env, api: Api, flags: Mapping[str, Any]) -> AsyncIterator[list[Json]]:
    """The infos that fit by name, a page at a time. Raises BadInput for flags that cannot be read."""
    if flags["subject"] and not is_subject(flags["subject"]):
        raise BadInput(f"{flags['subject']!r} is no subject")
    everything = env.flags.get("all_streams")
    async for page in streams.info_pages(api):
        infos = [info for info in page if everything or not streams.is_internal(info["config"]["name"])]
        yield CRITERIA.chosen(env, infos, flags)
