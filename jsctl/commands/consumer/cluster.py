"""`jsctl consumer cluster`."""

from jsctl.base.command_lines import build_line
from jsctl.base.loops import gather
from jsctl.commands.cli import argument, command, destructive, dry_run_flag, option
from jsctl.commands.consumer.criteria import consumer_criteria_flags, find_matching_consumers
from jsctl.commands.observers import leaders
from jsctl.commands.observers.leaders import announce_move
from jsctl.commands.observers.moves import wait_for_cancel
from jsctl.commands.picking.pick import open_consumer, open_stream, pick_peer
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.cluster.balance import balance_leaders, plan_moves
from jsctl.jetstream.cluster.leaders import build_consumer_group, is_replicated
from jsctl.jetstream.cluster.peers import (
    check_consumer_peer,
    evacuate_consumer,
    forget_consumer_peer,
)
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.find.criteria import ConsumerCriteria
from jsctl.jetstream.state import list_absent_peers, list_joined_peers, list_peers
from jsctl.jetstream.stream import requests as streams
from jsctl.views.consumer import info as view
from jsctl.views.consumer.intent import change_intent
from jsctl.views.result import Result, Text
from jsctl.views.shared import balance as balance_view


@command(
    "step-down",
    examples=[
        "jsctl consumer cluster step-down ORDERS NEW",
        "jsctl consumer cluster step-down ORDERS NEW --preferred n2",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--preferred", metavar="SERVER", default="", help="Server that should lead next")
@destructive("Proceed even if no leader is known", "Only show which leader would step down")
async def step_down(env: Env, stream: str, consumer: str, preferred: str, force: bool) -> Result:
    api, stream, consumer = await open_consumer(env, stream, consumer)
    change = await leaders.step_down(env, build_consumer_group(api, stream, consumer), preferred, force)
    return view.info_page(change.info)


@command("evacuate", examples=["jsctl consumer cluster evacuate ORDERS NEW n2"])
@argument("stream", default="")
@argument("consumer", default="")
@argument("peer", default="")
@destructive("Move without asking")
async def evacuate(env: Env, stream: str, consumer: str, peer: str, force: bool) -> Result:
    """Move a consumer from a server to another server of its stream, which the cluster picks. nats-server
    2.15 is needed.
    """
    api, stream, consumer = await open_consumer(env, stream, consumer)
    info = await consumers.fetch_info(api, stream, consumer)
    if names := list_peers(info):
        peer = await pick_peer(env, peer, names)
    check_consumer_peer(info, peer)
    await api_levels.require(api, {ApiLevel.V2_15: ["cluster evacuate"]})
    where = f" from server {peer} to another"
    await env.confirm(change_intent("move", info, where, peer=peer), force=force)
    await evacuate_consumer(api, stream, consumer, peer)
    return Result(
        [Text(f"Requested that Consumer {stream} > {consumer} leaves server {peer}")],
        data={"stream": stream, "consumer": consumer, "peer": peer},
    )


@command(
    "cancel-move",
    examples=[
        "jsctl consumer cluster cancel-move ORDERS NEW",
        "jsctl consumer cluster cancel-move ORDERS NEW --dry-run",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@destructive("Cancel without asking, and do not wait")
async def cancel_move(env: Env, stream: str, consumer: str, force: bool) -> Result:
    """Take back replicas that a consumer was given and that have not joined it, for example since their
    servers are away: it stays on the servers that have joined. A consumer that moves with its stream goes
    back with it, by `stream cluster cancel-move`. What an evacuation moves, servers do not take back.
    nats-server 2.15 is needed.
    """
    api, stream, consumer = await open_consumer(env, stream, consumer)
    info = await consumers.fetch_info(api, stream, consumer)
    name = f"{stream} > {consumer}"
    absent, joined = list_absent_peers(info), list_joined_peers(info)
    if not absent and not (info.get("cluster") or {}).get("desired"):
        raise JsctlError(f"consumer {name} is not moving", "jsctl consumer info shows what it is changing to")
    if await _is_moving(api, stream):
        line = build_line("stream cluster cancel-move", stream)
        raise JsctlError(f"consumer {name} moves with its stream", f"{line} takes both back")
    if not absent:
        raise JsctlError(
            f"consumer {name} gains no servers that could be taken back", "jsctl consumer edit --replicas"
        )
    await api_levels.require(api, {ApiLevel.V2_15: ["cluster cancel-move"]})
    back = f" back to {', '.join(joined)}"
    await env.confirm(change_intent("cancel the move of", info, back, servers=joined), force=force)
    if info["config"].get("num_replicas") != len(joined):
        await consumers.update(api, stream, {**info["config"], "num_replicas": len(joined)})
    for peer in absent:
        await forget_consumer_peer(api, stream, consumer, peer)
    canceled = Text(f'Canceled move of "{name}"')
    if force:
        return Result([canceled], data={"stream": stream, "consumer": consumer, "canceled": True})
    [info] = await wait_for_cancel(
        env, "consumer", lambda: gather([consumers.fetch_info(api, stream, consumer)])
    )
    page = view.info_page(info)
    return page._replace(parts=[canceled, *page.parts])


async def _is_moving(api: Api, stream: str) -> bool:
    """Return whether a stream moves. One whose servers are away does not answer, and counts as none."""
    try:
        return bool(((await streams.fetch_info(api, stream)).get("cluster") or {}).get("desired"))
    except JsctlError:
        return False


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
    moves = plan_moves(await gather(consumers.fetch_info(api, stream, name) for name in names))
    if env.dry_run:
        return balance_view.balanced(moves, [], "consumer", dry_run=True)
    groups = {name: build_consumer_group(api, stream, name) for name in names}
    done = await balance_leaders(groups, moves, announce_move(env))
    return balance_view.balanced(done.moves, done.failed, "consumer")
