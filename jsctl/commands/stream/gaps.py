"""`jsctl stream gaps`."""

from jsctl.base.units import format_bytes, format_count
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.jetstream.message.gaps import find_gaps, needs_reading
from jsctl.jetstream.state import count_lost
from jsctl.jetstream.stream import requests as streams
from jsctl.views.intent import Intent
from jsctl.views.result import Result
from jsctl.views.stream import gaps as view


@command(
    "gaps", columns=view.COLUMNS, examples=["jsctl stream gaps ORDERS", "jsctl stream gaps ORDERS --json"]
)
@argument("stream", default="")
@destructive("Do not ask before the whole stream is read", "Only show how much would be read")
@option("--progress/--no-progress", default=True, help="Show progress while the stream is read")
async def gaps(env: Env, stream: str, force: bool, progress: bool) -> Result:
    """Show the gaps that the server reports. A stream with more than two million deleted messages is read as
    a whole.
    """
    api, name = await open_stream(env, stream)
    info = await streams.fetch_info(api, name)
    state = info["state"]
    sequences = 0
    if needs_reading(info):
        description = f"{format_count(state['messages'])} messages, {format_bytes(state['bytes'])}"
        facts = {"stream": name, "messages": state["messages"], "bytes": state["bytes"]}
        await env.confirm(Intent(f"read all of Stream {name} ({description})", facts), force=force)
        if progress and env.form in ("table", "plain"):
            sequences = int(state["last_seq"]) - int(state["first_seq"]) + 1
    with env.progress("Reading", sequences) as advance:
        ranges = await find_gaps(api, info, advance)
    lost = (state.get("lost") or {}).get("msgs") or []
    return view.gaps(name, ranges, lost, count_lost(state)[1])
