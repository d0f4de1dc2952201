"""`jsctl diff`."""

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from jsctl.base.loops import gather
from jsctl.commands.cli import command, option
from jsctl.commands.declared.plan import compare_sources, plan_declared
from jsctl.commands.declared.saved_plan import write_plan
from jsctl.commands.declared.sources import SourceOptions, source_flags
from jsctl.commands.declared.targets import open_targets
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.config.kind import Kind
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.compare import fetch_consumers, fetch_stream
from jsctl.jetstream.declared.model import LABEL, Consumer, Declared, Place, Stream, get_label
from jsctl.jetstream.declared.step import Target
from jsctl.jetstream.stream.config import STREAM
from jsctl.views.result import Cell, Column, Result, build_table


class OwnedKey(NamedTuple):
    """A key of a stream or consumer that differs from the default. label: of the owner of the whole; empty
    for none. position: file:line if a file names the key."""

    stream: str
    consumer: str
    key: str
    value: Any
    kind: Kind
    label: str
    position: str


async def fetch_owners(declared: Declared, targets: Mapping[Place, Target]) -> list[OwnedKey]:
    """Return the keys of all streams and consumers that files declare and that exist. Raises what requests
    raise."""
    owned = await gather(_fetch(stream, targets[stream.place]) for stream in declared.streams)
    return [key for keys in owned for key in keys]


async def _fetch(stream: Stream, target: Target) -> list[OwnedKey]:
    info = await fetch_stream(target, stream.name)
    if info is None:
        return []
    config = stream.kind.from_stream(info["config"]) if stream.kind else info["config"]
    keys = list(_iterate_keys(stream.kind or STREAM, config, stream, stream.name, ""))
    found = await fetch_consumers(stream.consumers, stream.name, target, info)
    for consumer, consumer_info in zip(stream.consumers, found, strict=True):
        if consumer_info:
            keys += _iterate_keys(CONSUMER, consumer_info["config"], consumer, stream.name, consumer.name)
    return keys


def _iterate_keys(
    schema: Schema, live: Json, item: Stream | Consumer, stream: str, consumer: str
) -> Iterator[OwnedKey]:
    config = schema.without_server_keys(live)
    named = {change.key for change in find_differences({}, item.config, schema)}
    for change in find_differences({}, config, schema):
        if change.key in ("name", "durable_name", f"metadata.{LABEL}"):
            continue
        position = item.position if change.key in named else ""
        yield OwnedKey(stream, consumer, change.key, change.after, change.kind, get_label(live), position)


_COLUMNS = (
    Column("Stream", "stream"),
    Column("Consumer", "consumer", optional=True),
    Column("Key", "key"),
    # As files have it.
    Column(
        "Value", "value", "prose", read=lambda key: Cell(key.value, Kind().format(key.kind.write(key.value)))
    ),
    Column("Label", "label", optional=True),
    Column("Declared", "at", read=attrgetter("position")),
)


@command(
    "diff",
    examples=[
        "jsctl diff -f streams.yaml",
        "jsctl diff -f streams.yaml --var keep=7d --json",
        "jsctl diff -f streams/ --prune",
        "jsctl diff -f streams.yaml --out plan.json",
    ],
)
@source_flags
@option("--out", metavar="FILE", default="", help="Also write the plan to a file, for jsctl apply FILE")
@option("--owners", is_flag=True, help="Show who owns each key, instead of what differs")
@option(*WATCH[0], **WATCH[1])
async def diff(env: Env, sources: SourceOptions, out: str, owners: bool, watch: int | None) -> Report:
    """See jsctl apply --help for the form of the files. The status is 2 for differences, and 1 if some of
    them cannot be applied."""
    check_interval(watch)
    if watch is not None and "-" in sources.files:
        raise BadInput("--watch reads the files again, and stdin can be read once", "name a file")

    async def compare() -> Result:
        read = sources.read(env)
        if owners:
            comparison = await compare_sources(env, read)
            opened = await open_targets(env, comparison.declared, comparison.logins)
            keys = await fetch_owners(comparison.declared, opened)
            return Result([build_table("Owners", _COLUMNS, keys)])
        plan = await plan_declared(env, read, read.build_rules(), only_shows=True)
        result = plan.show(env)
        if out:
            await write_plan(out, read, result.document(), plan.comparison.declared, plan.targets)
        return result

    return await fetch_or_watch(compare, watch)
