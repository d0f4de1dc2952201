"""`jsctl server request subscriptions`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("subscriptions", examples=["jsctl server request subscriptions --detail"])
@option("--detail", "subscriptions", is_flag=True, help="Include each subscription")
@option("--filter-account", "account", metavar="ACCOUNT", default="", help="Only this account")
@option(
    "--filter-subject",
    "test",
    metavar="SUBJECT",
    default="",
    help="Only subscriptions that match this subject",
)
@request_flags
async def subscriptions(env: Env, expect: int | None, servers: Servers, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "SUBSZ", body, expect, servers)
