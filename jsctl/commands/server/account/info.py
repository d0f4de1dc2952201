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
    """Show the account by its name or, with an operator, by its public key. A login of the system account is
    needed.
    """
    return view.account(await fetch_account(await env.connection(), account, host))
