"""`jsctl stream ls`."""

from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.jetstream import reports, streams
from jsctl.views import streams as view
from jsctl.views.result import Result, Text


@command("ls", examples=["jsctl stream ls", "jsctl stream ls --subject 'ORDERS.*' --names"])
@option("--subject", metavar="SUBJECT", default="", help="Only streams that listen on this subject")
@option("--names", "-n", "names_only", is_flag=True, help="Only names, one a line")
async def ls(env: Env, subject: str, names_only: bool) -> Result:
    """List the streams"""
    api = await env.jetstream()
    everything = env.flags.get("all_streams")

    def shown(name: str) -> bool:
        return bool(everything) or not streams.is_internal(name)

    if names_only or env.wants_json:
        found = sorted(name for name in await streams.names(api, subject) if shown(name))
        return Result([Text("\n".join(found))] if found else [], data=found)
    snap = await reports.snapshot(api, subject=subject)
    infos = [info for info in snap.infos if shown(info["config"]["name"])]
    hidden = len(infos) < len(snap.infos)
    return view.listing(snap._replace(infos=infos), env.clock(), subject=subject, hidden=hidden)
