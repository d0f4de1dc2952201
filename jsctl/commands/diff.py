"""`jsctl diff`."""

from jsctl.commands.cli import command, option
from jsctl.commands.declared.saved_plan import write_plan
from jsctl.commands.declared.sources import (
    SourceOptions,
    compare_sources,
    open_targets,
    plan_streams,
    show_plan,
    source_flags,
)
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.declared.owners import fetch_owners
from jsctl.views.declared.owners import owners_result
from jsctl.views.result import Result


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
        comparison = await compare_sources(env, read, is_planning=True)
        if owners:
            opened = await open_targets(env, comparison.declared, comparison.logins)
            return owners_result(await fetch_owners(comparison.declared, opened))
        plan, targets = await plan_streams(env, read, comparison, read.build_rules())
        result = show_plan(env, plan, comparison)
        if out:
            await write_plan(out, read, result.document(), comparison.declared, targets)
        return result

    return await fetch_or_watch(compare, watch)
