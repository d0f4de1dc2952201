"""`jsctl server account info`."""

from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.monitor.server.find import fetch_account
from jsctl.views.result import Result
from jsctl.views.server import info as view


@command("info", examples=["jsctl server account info APP", "jsctl server account info APP --host n1"])
@argument("account")
@option("--host", metavar="NAME", default="", help="Ask this server")
async def info(env: Env, account: str, host: str) -> Result:
    """With an operator, ACCOUNT is the public key of the account. Needs a login of the system account."""
    return view.account(await fetch_account(await env.connection(), account, host))
