"""`jsctl stream gaps`."""

from collections.abc import Sequence

from jsctl.base.units import format_bytes, format_count, join_some, pluralize
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.jetstream.message.gaps import Gap, find_gaps, needs_reading
from jsctl.jetstream.state import count_lost
from jsctl.jetstream.stream import requests as streams
from jsctl.views.intent import Intent
from jsctl.views.result import Column, Part, Result, Table, Text

_COLUMNS = (
    Column("First Message", "first", "count"),
    Column("Last Message", "last", "count"),
    Column("Missing", "missing", "count"),
)


def _show_gaps(stream: str, ranges: Sequence[Gap], lost: Sequence[int], lost_bytes: int) -> Result:
    """Return the gaps in a stream; the document is a list of first and last sequences.

    ranges: first and last missing sequence of each gap. lost: sequences that the server lost.
    """
    parts: list[Part] = []
    if ranges:
        title = f"{pluralize(len(ranges), 'gap')} found in Stream {stream}"
        parts.append(Table(title, _COLUMNS, [(first, last, last - first + 1) for first, last in ranges]))
    else:
        parts.append(Table("", _COLUMNS, (), empty=f"No deleted messages in {stream}"))
    if lost:
        sequences = join_some([format_count(sequence) for sequence in lost], 20)
        count = pluralize(len(lost), "message")
        parts.append(Text(f"The server lost {count} ({format_bytes(lost_bytes)}): {sequences}", "bad"))
    return Result(parts, data=[list(gap) for gap in ranges])


@command("gaps", columns=_COLUMNS, examples=["jsctl stream gaps ORDERS", "jsctl stream gaps ORDERS --json"])
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
    return _show_gaps(name, ranges, lost, count_lost(state)[1])
