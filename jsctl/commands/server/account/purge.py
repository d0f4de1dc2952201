"""`jsctl server account purge`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.jetstream.cluster.meta import purge_account
from jsctl.monitor.server.stored import fetch_account_storage
from jsctl.views.result import Result
from jsctl.views.server import intents as view


@command("purge", examples=["jsctl server account purge APP", "jsctl server account purge APP --force"])
@argument("account")
@unprotect_flag
@destructive("Do not ask")
async def purge(env: Env, account: str, unprotect: tuple[str, ...], force: bool) -> Result:
    """Remove them with their data, on all servers of the domain. A login of the system account is needed."""
    api = await env.jetstream()
    stored = await fetch_account_storage(await env.connection(), api.domain, account)
    refuse_protected([{"config": config} for config in stored.configs], unprotect)
    await env.confirm(view.purge(account, stored), force=force)
    await purge_account(api, account)
    env.inform(f"the purge of account {account} has begun")
    return Result(data={"account": account, "purging": True})
