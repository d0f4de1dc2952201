"""`jsctl stream cluster balance`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.stream.criteria import chosen, criteria
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream import raft, streams
from jsctl.views import raft as view
from jsctl.views.result import Result


@command(
    "balance",
    examples=["jsctl stream cluster balance --dry-run", "jsctl stream cluster balance --cluster lon"],
)
@criteria
@option("--dry-run", is_flag=True, help="Only say which leaders would move")
async def balance(env: Env, dry_run: bool, **flags: Any) -> Result:
    """Balance the leaders of streams over the servers that hold them"""
    api = await env.jetstream()
    await streams.check_needs(api, {1: ["cluster balance"]})
    snap = await chosen(env, api, flags)
    if snap.infos and not any(raft.is_clustered(info) for info in snap.infos):
        raise JsctlError("none of these streams has replicas", "there are no leaders to balance")
    # LIST does not say of every follower whether it is current; INFO of the leader does.
    infos = await streams.infos(api, [info["config"]["name"] for info in snap.infos])
    moves = raft.plan(infos)
    done: list[raft.Move] = []
    failed: list[tuple[raft.Move, str]] = []
    for move in [] if dry_run else moves:
        try:
            await raft.step_down(api, move.name, move.preferred)
            after = await raft.new_leader(lambda name=move.name: streams.info(api, name), move.leader)  # type: ignore[misc]
        except JsctlError as error:
            failed.append((move, str(error)))
            continue
        done.append(move._replace(preferred=after))
        env.say(f"Stream {move.name}: {move.leader} stood down, {after} leads")
    return view.balanced(moves if dry_run else done, failed, "stream", dry_run=dry_run)
