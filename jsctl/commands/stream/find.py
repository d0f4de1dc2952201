"""`jsctl stream find`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.stream.criteria import CRITERIA, chosen
from jsctl.env import Env
from jsctl.views import streams as view
from jsctl.views.result import Result, Text


@command(
    "find",
    examples=[
        "jsctl stream find --empty --created 30d",
        "jsctl stream find --idle 1h --invert --names",
        "jsctl stream find --expression 'state.messages > 10 and config.storage == \"memory\"'",
        'jsctl stream find --expression \'info.cluster.name in ["lon", "sfo"]\'',
    ],
)
@CRITERIA.add
@option("--names", "-n", "names_only", is_flag=True, help="Only names, one a line")
async def find(env: Env, names_only: bool, **flags: Any) -> Result:
    """Find the streams that fit all of the flags.

    --expression takes a condition over config, state and info, as `stream info --json` has them: or ||
    and && not ! == != < <= > >= in contains startsWith endsWith matches + - * / % len(x), lists, a.b,
    a["b"], true, false, nil. What the server leaves out counts as zero, empty or false.
    """
    snap = await chosen(env, await env.jetstream(), flags)
    names = sorted(str(info["config"]["name"]) for info in snap.infos)
    if names_only:
        return Result([Text("\n".join(names))] if names else [], data=names)
    if not names:
        return Result([Text("No Streams found")], data=[])
    listed = view.listing(snap, env.clock())
    return Result(listed.parts, data=sorted(snap.infos, key=lambda info: str(info["config"]["name"])))
