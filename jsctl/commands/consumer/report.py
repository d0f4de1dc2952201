"""`jsctl consumer report`."""

import asyncio

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import stream_name
from jsctl.env import Env
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer import rows as consumer_rows
from jsctl.monitor.stream.rows import fetch_snapshot
from jsctl.prompts.prompter import Choice
from jsctl.views.consumer import report as view
from jsctl.views.result import Part, Result
from jsctl.views.shared.tables import unreachable_streams


@command(
    "report",
    examples=[
        "jsctl consumer report",
        "jsctl consumer report ORDERS",
        "jsctl con report ORDERS PAYMENTS --raw",
    ],
)
@argument("stream", nargs=-1)
@option("--raw", "-r", is_flag=True, help="Numbers as they are, not made readable")
@option("--leaders", "-l", is_flag=True, help="Show which servers lead how many consumers")
async def report(env: Env, stream: tuple[str, ...], raw: bool, leaders: bool) -> Result:
    """Covers one stream, several or all.

    Unprocessed is set against what the consumer's filter can match.
    """
    api = await env.jetstream()
    wanted = list(dict.fromkeys(map(stream_name, stream))) or await _picked(env, api)
    gone: list[Part] = []
    if wanted:
        infos = await asyncio.gather(*(streams.info(api, name) for name in wanted))
    else:
        snap = await fetch_snapshot(api)
        infos = [info for info in snap.infos if _shown(env, info) and info["state"].get("consumer_count")]
        gone = list(unreachable_streams(snap.missing, snap.offline))
    rows, lists = await consumer_rows.collect(api, {info["config"]["name"]: info for info in infos})
    made = view.report(rows, lists, raw=raw, leaders=leaders)
    return made._replace(parts=[*made.parts, *gone])


async def _picked(env: Env, api: Api) -> list[str]:
    """One stream from a list, or none of them for all; without a terminal all."""
    if not env.can_ask:
        return []
    everything = env.flags.get("all_streams")
    found = sorted(name for name in await streams.names(api) if everything or not streams.is_internal(name))
    if not found:
        return []
    choices = [*(Choice(name, name) for name in found), Choice("(all streams)", "")]
    chosen = await env.prompter.select("Select a Stream", choices, flag="STREAM", default=found[0])
    return [chosen] if chosen else []


def _shown(env: Env, info: Json) -> bool:
    return bool(env.flags.get("all_streams")) or not streams.is_internal(info["config"]["name"])
