"""`jsctl server request subscriptions`."""

from jsctl.commands.cli import command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("subscriptions", examples=["jsctl server request subscriptions --detail"])
@option("--detail", is_flag=True, help="Include each subscription")
@option("--filter-account", metavar="ACCOUNT", default="", help="Only this account")
@option("--filter-subject", metavar="SUBJECT", default="", help="Only subscriptions that match this subject")
@request_flags
async def subscriptions(
    env: Env,
    expect: int | None,
    servers: Servers,
    detail: bool,
    filter_account: str,
    filter_subject: str,
) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(
        env,
        "SUBSZ",
        {"subscriptions": detail, "account": filter_account, "test": filter_subject},
        expect,
        servers,
    )
