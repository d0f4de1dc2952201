"""`jsctl stream ls`."""

from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.jetstream import streams
from jsctl.views import streams as view
from jsctl.views.result import Result, Text


@command("ls", examples=["jsctl stream ls", "jsctl stream ls --subject 'ORDERS.*' --names"])
@option("--subject", metavar="SUBJECT", default="", help="Only streams that listen on this subject")
@option("--names", "-n", "names_only", is_flag=True, help="Only names, one a line")
async def ls(env: Env, subject: str, names_only: bool) -> Result:
    """List the streams"""
    api = await env.jetstream()
    everything = env.flags.get("all_streams")
    if names_only or env.wants_json:
        found = sorted(
            n for n in await streams.names(api, subject) if everything or not streams.is_internal(n)
        )
        return Result([Text("\n".join(found))] if found else [], data=found)
    infos, _ = await streams.listing(api, subject)
    shown = [info for info in infos if everything or not streams.is_internal(info["config"]["name"])]
    return view.listing(shown, env.clock())
