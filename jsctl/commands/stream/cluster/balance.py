"""`jsctl stream cluster balance`."""

from functools import partial
from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.shared import balancing
from jsctl.commands.stream.criteria import CRITERIA, chosen
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream import cluster as raft
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Result


@command(
    "balance",
    examples=["jsctl stream cluster balance --dry-run", "jsctl stream cluster balance --cluster lon"],
)
@CRITERIA.add
@option("--dry-run", is_flag=True, help="Only say which leaders would move")
async def balance(env: Env, dry_run: bool, **flags: Any) -> Result:
    api = await env.jetstream()
    await api_levels.require(api, {ApiLevel.V2_11: ["cluster balance"]})
    listed = [info async for page in chosen(env, api, flags) for info in page]
    if listed and not any(raft.is_clustered(info) for info in listed):
        raise JsctlError("none of these streams has replicas", "there are no leaders to balance")
    # LIST does not say of every follower whether it is current; INFO of the leader does.
    infos = await streams.infos(api, [info["config"]["name"] for info in listed])
    return await balancing.balance(
        env, "stream", infos, partial(streams.info, api), partial(raft.step_down, api), dry_run=dry_run
    )
