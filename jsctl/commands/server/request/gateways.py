"""`jsctl server request gateways`."""

from typing import Any

from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("gateways", examples=["jsctl server request gateways"])
@option("--filter-account", "account_name", metavar="ACCOUNT", default="", help="Only this account")
@option("--accounts", is_flag=True, help="Include details of accounts")
@option(
    "--subscriptions/--no-subscriptions",
    default=True,
    help="Include the subscriptions of the account of --filter-account",
)
@request_flags
@argument("gateway", required=False, default="", metavar="[NAME]")
async def gateways(
    env: Env, expect: int | None, servers: Servers, gateway: str, subscriptions: bool, **body: Any
) -> Result:
    """End after WAIT answers. NAME is that of a gateway."""
    body["name"] = gateway
    if body["account_name"]:
        body |= {"accounts": True, "subscriptions": subscriptions, "subscriptions_detail": subscriptions}
    return await request(env, "GATEWAYZ", body, expect, servers)
