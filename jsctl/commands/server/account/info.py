"""`jsctl server account info`."""

from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.report.flags import ARCHIVE
from jsctl.env import Env
from jsctl.monitor.audit.archive import Archive
from jsctl.monitor.audit.replay import read_archived_account
from jsctl.monitor.server.find import fetch_account
from jsctl.views.result import Result
from jsctl.views.server import info as view


@command("info", examples=["jsctl server account info APP", "jsctl server account info APP --host n1"])
@argument("account")
@option("--host", metavar="NAME", default="", help="Ask this server")
@option(*ARCHIVE[0], default="", **ARCHIVE[1])
async def info(env: Env, account: str, host: str, archive: str) -> Result:
    """Show the account by its name or, with an operator, by its public key. A login of the system account is
    needed.
    """
    if archive:
        with Archive(str(expand_home(archive))) as file:
            return view.account(read_archived_account(file, account, host))
    return view.account(await fetch_account(await env.connection(), account, host))
