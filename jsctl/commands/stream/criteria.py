"""The flags that choose streams, for find and cluster balance."""

from collections.abc import AsyncIterator

from jsctl.commands.cli import DURATION, declare_all, option
from jsctl.commands.options.criteria import REGEX, Count, common_criteria_flags, find_matching
from jsctl.commands.picking.system_streams import list_shown
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.find.criteria import StreamCriteria
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import is_subject

stream_criteria_flags = declare_all(
    option("--server-name", type=REGEX, metavar="REGEX", help="With a replica on a server that matches"),
    option("--cluster", type=REGEX, metavar="REGEX", help="In a cluster that matches"),
    option("--empty", is_flag=True, help="Without messages"),
    option("--idle", type=DURATION, metavar="DURATION", help="Without a new message for longer than this"),
    option("--consumers", type=Count(unset=-1), metavar="COUNT", help="With at most this many consumers"),
    option("--subject", metavar="SUBJECT", help="Storing messages on this subject; may contain wildcards"),
    option("--sourced", is_flag=True, help="With sources"),
    option("--mirrored", is_flag=True, help="Mirrors"),
    common_criteria_flags,
)
"""The flags of `StreamCriteria`."""


async def find_matching_streams(env: Env, api: Api, criteria: StreamCriteria) -> AsyncIterator[list[Json]]:
    """Yield the infos of all streams that meet the criteria, by name, a page at a time. Raises BadInput."""
    if criteria.subject and not is_subject(criteria.subject):
        raise BadInput(f"{criteria.subject!r} is not a valid subject")
    async for page in streams.list_info_pages(api):
        yield find_matching(env, criteria, page)


def find_shown_streams(env: Env, api: Api, criteria: StreamCriteria) -> AsyncIterator[list[Json]]:
    """Yield the infos as find_matching_streams does, those of buckets and the system only with --all."""
    return list_shown(env, find_matching_streams(env, api, criteria), get_name)


def get_name(info: Json) -> str:
    """Return the name of an info's stream."""
    return str(info["config"]["name"])
