"""`jsctl server request gateways`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("gateways", examples=["jsctl server request gateways"])
@option("--filter-account", metavar="ACCOUNT", default="", help="Only this account")
@option("--accounts", is_flag=True, help="Include details of accounts")
@option(
    "--subscriptions/--no-subscriptions",
    default=True,
    help="Include the subscriptions of the account of --filter-account",
)
@request_flags
@argument("gateway", required=False, default="", metavar="[NAME]")
async def gateways(
    env: Env,
    expect: int | None,
    servers: Servers,
    filter_account: str,
    accounts: bool,
    subscriptions: bool,
    gateway: str,
) -> Result:
    """End after WAIT answers. NAME is that of a gateway."""
    return await request(
        env,
        "GATEWAYZ",
        {
            "account_name": filter_account,
            "name": gateway,
            "accounts": accounts or bool(filter_account),
            "subscriptions": subscriptions and bool(filter_account),
            "subscriptions_detail": subscriptions and bool(filter_account),
        },
        expect,
        servers,
    )
