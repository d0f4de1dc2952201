"""`jsctl server account purge`."""

from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.jetstream.cluster.meta import purge_account


@command("purge", examples=["jsctl server account purge APP", "jsctl server account purge APP --force"])
@argument("account")
@option("--force", "-f", is_flag=True, help="Do not ask")
async def purge(env: Env, account: str, force: bool) -> None:
    """They go with their data, on all servers of the domain. Needs a login of the system account."""
    api = await env.jetstream()
    await env.confirm(f"Remove all streams and consumers of account {account}?", force=force)
    await purge_account(api, account)
    env.say(f"the purge of account {account} has begun")
