"""`jsctl diff`."""

from collections.abc import Sequence
from operator import attrgetter

from jsctl.commands.cli import command, option
from jsctl.commands.declared.plan import compare_sources, plan_declared
from jsctl.commands.declared.saved_plan import write_plan
from jsctl.commands.declared.sources import SourceOptions, source_flags
from jsctl.commands.declared.targets import open_targets
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.config.kind import Kind
from jsctl.jetstream.declared.owners import OwnedKey, fetch_owners
from jsctl.views.result import Cell, Column, Result, build_table

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


def _show_owners_result(keys: Sequence[OwnedKey]) -> Result:
    """Show the keys of streams and consumers, with the label that owns them and the line that declares
    them."""
    return Result([build_table("Owners", _COLUMNS, keys)])


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
            return _show_owners_result(await fetch_owners(comparison.declared, opened))
        plan = await plan_declared(env, read, read.build_rules(), only_shows=True)
        result = plan.show(env)
        if out:
            await write_plan(out, read, result.document(), plan.comparison.declared, plan.targets)
        return result

    return await fetch_or_watch(compare, watch)
