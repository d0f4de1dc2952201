"""`jsctl stream cluster balance`."""

from jsctl.commands.cli import command, dry_run_flag
from jsctl.commands.observers.leaders import announce_move
from jsctl.commands.stream.criteria import find_shown_streams, stream_criteria_flags
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.cluster.balance import balance_leaders, plan_moves
from jsctl.jetstream.cluster.leaders import build_stream_group, is_replicated
from jsctl.jetstream.find.criteria import StreamCriteria
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Result
from jsctl.views.shared import balance as view


@command(
    "balance",
    examples=["jsctl stream cluster balance --dry-run", "jsctl stream cluster balance --cluster lon"],
)
@stream_criteria_flags
@dry_run_flag("Only show which leaders would move")
async def balance(env: Env, criteria: StreamCriteria) -> Result:
    api = await env.jetstream()
    await api_levels.require(api, {ApiLevel.V2_11: ["cluster balance"]})
    listed = [info async for page in find_shown_streams(env, api, criteria) for info in page]
    if listed and not any(is_replicated(info) for info in listed):
        raise JsctlError("none of these streams has replicas", "there are no leaders to balance")
    names = [info["config"]["name"] for info in listed]
    # LIST does not say of every follower whether it is current; INFO of the leader does.
    moves = plan_moves(await streams.fetch_infos(api, names))
    if env.dry_run:
        return view.balanced(moves, [], "stream", dry_run=True)
    groups = {name: build_stream_group(api, name) for name in names}
    done = await balance_leaders(groups, moves, announce_move(env))
    return view.balanced(done.moves, done.failed, "stream")
