"""`jsctl consumer report`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.pick import validate_stream_name
from jsctl.commands.picking.system_streams import ShownNames
from jsctl.env import Env
from jsctl.jetstream.api import Api
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer import rows as consumer_rows
from jsctl.monitor.stream.rows import fetch_snapshot
from jsctl.prompts.prompter import Choice
from jsctl.views.consumer import report as view
from jsctl.views.result import Part, Result
from jsctl.views.shared.tables import unreachable_streams


@command(
    "report",
    columns=view.COLUMNS,
    examples=[
        "jsctl consumer report",
        "jsctl consumer report ORDERS",
        "jsctl con report ORDERS PAYMENTS --raw",
    ],
)
@argument("stream", nargs=-1)
@option("--raw", "-r", is_flag=True, help="Show exact numbers, without units or separators")
@option("--leaders", "-l", is_flag=True, help="Show which servers lead how many consumers")
async def report(env: Env, stream: tuple[str, ...], raw: bool, leaders: bool) -> Result:
    """Report on the streams that are named, or all of them. The share beside Unprocessed is that of the
    messages that the consumer's filter matches.
    """
    api = await env.jetstream()
    names = list(dict.fromkeys(map(validate_stream_name, stream))) or await _pick_streams(env, api)
    unreachable: list[Part] = []
    if names:
        infos = await streams.fetch_infos(api, names)
    else:
        snapshot = await fetch_snapshot(api)
        shown_names = ShownNames(env)
        infos = [
            info
            for info in snapshot.infos
            if info["state"].get("consumer_count") and info["config"]["name"] in shown_names
        ]
        shown_names.report_hidden()
        unreachable = list(unreachable_streams(snapshot.missing, snapshot.offline))
    rows, lists = await consumer_rows.collect(api, {info["config"]["name"]: info for info in infos})
    result = view.report(rows, lists, raw=raw, leaders=leaders)
    return result._replace(parts=[*result.parts, *unreachable])


async def _pick_streams(env: Env, api: Api) -> list[str]:
    """Return the stream that the user picks from a list; empty for all streams, as without a terminal."""
    if not env.can_ask:
        return []
    shown_names = ShownNames(env)
    names = sorted(name for name in await streams.list_names(api) if name in shown_names)
    if not names:
        return []
    choices = [*(Choice(name, name) for name in names), Choice("(all streams)", "")]
    stream = await env.prompter.select("Select a Stream", choices, flag="STREAM", default=names[0])
    return [stream] if stream else []
