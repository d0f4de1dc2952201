"""Which consumers are meant, for find and cluster balance."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from jsctl.commands.cli import DURATION
from jsctl.commands.shared.criteria import COUNT, Criteria
from jsctl.env import Env
from jsctl.jetstream import find
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers

CRITERIA = Criteria(
    (
        ("--pull", {"is_flag": True, "help": "Pull consumers"}),
        ("--push", {"is_flag": True, "help": "Push consumers"}),
        ("--bound", {"is_flag": True, "help": "With interest, or with pulls that wait"}),
        ("--waiting", {"type": COUNT, "metavar": "COUNT", "help": "With fewer waiting pulls"}),
        ("--ack-pending", {"type": COUNT, "metavar": "COUNT", "help": "With fewer pending acknowledgements"}),
        ("--pending", {"type": COUNT, "metavar": "COUNT", "help": "With fewer unprocessed messages"}),
        (
            "--idle",
            {"type": DURATION, "metavar": "DURATION", "help": "Without a delivery for longer than this"},
        ),
        ("--pinned", {"is_flag": True, "help": "Whose priority groups all have a pinned client"}),
    ),
    find.CONSUMERS,
    unless=dict.fromkeys(("waiting", "ack_pending", "pending", "replicas", "api_level"), 0),
)


async def chosen(env: Env, api: Api, stream: str, flags: Mapping[str, Any]) -> AsyncIterator[list[Json]]:
    """The infos that fit by name, a page at a time. Raises BadInput for flags that cannot be read."""
    async for page in consumers.info_pages(api, stream):
        yield CRITERIA.chosen(env, page, flags)
