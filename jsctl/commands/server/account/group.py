"""`jsctl server account` and its commands."""

from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.commands.server.report.flags import ARCHIVE
from jsctl.env import Env
from jsctl.jetstream.cluster.meta import purge_account
from jsctl.monitor.audit.archive import Archive
from jsctl.monitor.audit.replay import read_archived_account
from jsctl.monitor.server.find import fetch_account
from jsctl.monitor.server.stored import fetch_account_storage
from jsctl.views.result import Result
from jsctl.views.server import info as view
from jsctl.views.server import intents


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


@command("purge", examples=["jsctl server account purge APP", "jsctl server account purge APP --force"])
@argument("account")
@unprotect_flag
@destructive("Do not ask")
async def purge(env: Env, account: str, unprotect: tuple[str, ...], force: bool) -> Result:
    """Remove them with their data, on all servers of the domain. A login of the system account is needed."""
    api = await env.jetstream()
    stored = await fetch_account_storage(await env.connection(), api.domain, account)
    refuse_protected([{"config": config} for config in stored.configs], unprotect)
    await env.confirm(intents.purge(account, stored), force=force)
    await purge_account(api, account)
    env.inform(f"the purge of account {account} has begun")
    return Result(data={"account": account, "purging": True})
