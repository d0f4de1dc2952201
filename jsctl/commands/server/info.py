"""`jsctl server info`."""

from typing import Any

from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.report.flags import ARCHIVE, read_archive
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.monitor.server.find import find_server
from jsctl.monitor.server.requests import Filter
from jsctl.views.result import Result
from jsctl.views.server import info as view


@command("info", examples=["jsctl server info", "jsctl server info n1"])
@argument("name", required=False, default="", metavar="[SERVER]")
@option(*ARCHIVE[0], default="", **ARCHIVE[1])
async def info(env: Env, name: str, archive: str) -> Result:
    """Show SERVER, a name or an ID, or the server that jsctl is connected to. A login of the system account
    is needed.
    """
    if archive:
        return view.server(_read_archived(archive, name))
    return view.server(await find_server(await env.connection(), name))


def _read_archived(archive: str, name: str) -> dict[str, Any]:
    """Return VARZ of a server in an archive. Raises BadInput, NotFound."""
    replies = read_archive({"archive": archive}, "VARZ", Filter())
    for reply in replies:
        if name in (reply["server"].get("name"), reply["server"].get("id")):
            return reply
    names = ", ".join(str(reply["server"].get("name")) for reply in replies)
    raise NotFound(f"{archive} has no server {name!r}", f"it has {names}")
