"""`jsctl server report downgrade`."""

from collections.abc import Sequence

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.watch import WATCH, Report
from jsctl.commands.server.report.flags import ARCHIVE, Flags, Json, report_answers
from jsctl.env import Env
from jsctl.monitor.server.downgrade import ConsumerLevel, StreamLevel, find_incompatible
from jsctl.monitor.server.requests import fetch_details
from jsctl.views.result import Cell, Column, Part, Result, Text, build_table, recorder

_STREAMS = (
    Column("Account", "account"),
    Column("Stream", "name"),
    Column("Required API Level", "api_level", "number"),
)
_CONSUMERS = (
    Column("Account", "account"),
    Column(
        "Stream",
        "stream",
        read=lambda consumer: Cell(consumer.stream, consumer.stream + "*" * (not consumer.stays)),
    ),
    Column("Consumer", "name"),
    Column("Required API Level", "api_level", "number"),
)
_record_stream = recorder(("account", "name", "api_level"))
_record_consumer = recorder(("account", "name", "stream", "api_level"))


def _show_downgrade(streams: Sequence[StreamLevel], consumers: Sequence[ConsumerLevel], level: int) -> Result:
    """Show what needs more than an API level; a star marks streams that need more themselves."""
    parts: list[Part] = []
    if streams:
        parts.append(build_table("Streams", _STREAMS, streams))
    if consumers:
        parts.append(build_table("Consumers", _CONSUMERS, consumers))
    if not parts:
        parts.append(Text(f"All streams and consumers work with API level {level}.", "good"))
    document = {
        "streams": list(map(_record_stream, streams)),
        "consumers": list(map(_record_consumer, consumers)),
    }
    return Result(parts, data=document)


@command(
    "downgrade",
    columns=_STREAMS,
    examples=["jsctl server report downgrade 1", "jsctl server report downgrade 0 --all --json"],
)
@argument("api", type=click.IntRange(min=0))
@option("--all", "with_all", is_flag=True, help="Also the other consumers of streams that need more")
@option(*WATCH[0], into="servers", **WATCH[1])
@option(*ARCHIVE[0], into="servers", **ARCHIVE[1])
async def downgrade(env: Env, api: int, with_all: bool, servers: Flags) -> Report:
    """Take API as the level of the version to go back to, as jsctl server info shows it: 0 for nats-server
    2.10, 1 for 2.11, 2 for 2.12, 4 for 2.14, 5 for 2.15. A login of the system account is needed.
    """

    def show(replies: Sequence[Json]) -> Result:
        return _show_downgrade(*find_incompatible(replies, api, with_all=with_all), api)

    return await report_answers(env, "JSZ", servers, fetch_details, show)
