"""`jsctl stream rm`."""

from jsctl.commands import complete
from jsctl.commands.cli import argument, command, option
from jsctl.commands.pick import pick_stream
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import streams
from jsctl.units import format_bytes, format_count
from jsctl.views.result import Result, Text


@command("rm", examples=["jsctl stream rm ORDERS", "jsctl stream rm ORDERS --force"])
@argument("stream", default="", shell_complete=complete.streams)
@option("--force", "-f", is_flag=True, help="Remove without asking")
async def rm(env: Env, stream: str, force: bool) -> Result:
    """Remove a stream with its messages and consumers"""
    if force and not stream:
        raise BadInput("--force needs the stream's name", "give STREAM")
    api = await env.jetstream()
    name = await pick_stream(env, api, stream)
    if not force:
        state = (await streams.info(api, name))["state"]
        what = f"{format_count(state['messages'])} messages, {format_bytes(state['bytes'])}"
        await env.confirm(f"Really delete Stream {name} ({what})", force=False)
    await streams.delete(api, name)
    return Result([Text(f"Stream {name} was removed")], data={"stream": name, "removed": True})
