"""The flags that choose consumers, for find and cluster balance."""

from collections.abc import AsyncIterator

from jsctl.commands.cli import DURATION, declare_all, option
from jsctl.commands.options.criteria import Count, common_criteria_flags, find_matching
from jsctl.env import Env
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.find.criteria import ConsumerCriteria

consumer_criteria_flags = declare_all(
    option("--pull", is_flag=True, help="Pull consumers"),
    option("--push", is_flag=True, help="Push consumers"),
    option("--bound", is_flag=True, help="With interest, or with waiting pulls"),
    option("--waiting", type=Count(), metavar="COUNT", help="With fewer waiting pulls"),
    option("--ack-pending", type=Count(), metavar="COUNT", help="With fewer pending acknowledgements"),
    option("--pending", type=Count(), metavar="COUNT", help="With fewer unprocessed messages"),
    option("--idle", type=DURATION, metavar="DURATION", help="Without a delivery for longer than this"),
    option("--pinned", is_flag=True, help="Whose priority groups all have a pinned client"),
    common_criteria_flags,
)
"""The flags of `ConsumerCriteria`."""


async def find_matching_consumers(
    env: Env, api: Api, stream: str, criteria: ConsumerCriteria
) -> AsyncIterator[list[Json]]:
    """Yield the infos of the consumers that meet the criteria, by name, a page at a time.

    Raises BadInput.
    """
    async for page in consumers.list_info_pages(api, stream):
        yield find_matching(env, criteria, page)
