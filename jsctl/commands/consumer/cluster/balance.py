"""`jsctl consumer cluster balance`."""

import asyncio

from jsctl.commands.cli import argument, command, dry_run_flag
from jsctl.commands.consumer.criteria import consumer_criteria_flags, find_matching_consumers
from jsctl.commands.observers.leaders import announce_move
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.cluster.balance import balance_leaders, plan_moves
from jsctl.jetstream.cluster.leaders import build_consumer_group, is_replicated
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.find.criteria import ConsumerCriteria
from jsctl.views.result import Result
from jsctl.views.shared import balance as view


@command(
    "balance",
    examples=[
        "jsctl consumer cluster balance ORDERS --dry-run",
        "jsctl consumer cluster balance ORDERS --pull",
    ],
)
@argument("stream", default="")
@consumer_criteria_flags
@dry_run_flag("Only show which leaders would move")
async def balance(env: Env, stream: str, criteria: ConsumerCriteria) -> Result:
    api, stream = await open_stream(env, stream)
    pages = find_matching_consumers(env, api, stream, criteria)
    names = [info["name"] async for page in pages for info in page if is_replicated(info)]
    await api_levels.require(api, {ApiLevel.V2_11: ["cluster balance"]})
    if not names:
        raise JsctlError(
            f"none of these consumers of {stream} has replicas", "there are no leaders to balance"
        )
    # LIST does not say of every follower whether it is current; INFO of the leader does.
    moves = plan_moves(await asyncio.gather(*(consumers.fetch_info(api, stream, name) for name in names)))
    if env.dry_run:
        return view.balanced(moves, [], "consumer", dry_run=True)
    groups = {name: build_consumer_group(api, stream, name) for name in names}
    done = await balance_leaders(groups, moves, announce_move(env))
    return view.balanced(done.moves, done.failed, "consumer")
