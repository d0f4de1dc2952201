"""`jsctl consumer cluster balance`."""

import asyncio
from functools import partial
from typing import Any

from jsctl.commands.cli import argument, command, option
from jsctl.commands.consumer.criteria import CRITERIA, chosen
from jsctl.commands.shared import balancing
from jsctl.commands.shared.pick import pick_stream
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream import cluster as raft
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.consumer import requests as consumers
from jsctl.views.result import Result


@command(
    "balance",
    examples=[
        "jsctl consumer cluster balance ORDERS --dry-run",
        "jsctl consumer cluster balance ORDERS --pull",
    ],
)
@argument("stream", default="")
@CRITERIA.add
@option("--dry-run", is_flag=True, help="Only say which leaders would move")
async def balance(env: Env, stream: str, dry_run: bool, **flags: Any) -> Result:
    api = await env.jetstream()
    stream = await pick_stream(env, api, stream)
    pages = chosen(env, api, stream, flags)
    found = [info async for page in pages for info in page if raft.is_clustered(info)]
    await api_levels.require(api, {ApiLevel.V2_11: ["cluster balance"]})
    if not found:
        raise JsctlError(
            f"none of these consumers of {stream} has replicas", "there are no leaders to balance"
        )
    # LIST does not say of every follower whether it is current; INFO of the leader does.
    infos = await asyncio.gather(*(consumers.info(api, stream, info["name"]) for info in found))
    ask, step_down = partial(consumers.info, api, stream), partial(consumers.step_down, api, stream)
    return await balancing.balance(env, "consumer", infos, ask, step_down, stream=stream, dry_run=dry_run)
