"""`jsctl object status`."""

import asyncio

from jsctl.commands.cli import command
from jsctl.commands.object.flags import bucket_argument
from jsctl.commands.object.group import bucket_info
from jsctl.commands.picking.pick import validate_name
from jsctl.env import Env
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.object import buckets, requests
from jsctl.jetstream.stream import requests as streams
from jsctl.views.object import lists as view
from jsctl.views.result import Result


@command("status", columns=(), examples=["jsctl object status FILES", "jsctl object status"])
@bucket_argument()
async def status(env: Env, bucket: str) -> Result:
    """Also show unfinished puts, which are still running or were interrupted; jsctl object rm BUCKET
    --unfinished removes what the latter left.
    """
    api = await env.jetstream()
    if bucket:
        infos = [await buckets.fetch_info(api, validate_name("object bucket", bucket))]
    else:
        collected = await streams.collect(api, bucket_info)
        infos = sorted(collected.items.values(), key=buckets.get_bucket)
    return view.status(list(await asyncio.gather(*(_build_row(api, info) for info in infos))))


async def _build_row(api: Api, info: Json) -> tuple[Json, int, int]:
    return info, *await requests.count(api, buckets.get_bucket(info), info["config"])
