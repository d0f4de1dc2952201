"""`jsctl auth account rm`."""

from jsctl.auth.claims import as_objects
from jsctl.auth.records import list_signing_keys
from jsctl.auth.removed import remove_account
from jsctl.base.command_lines import build_line
from jsctl.base.units import pluralize
from jsctl.commands.cli import command, destructive, option
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


@command("rm", examples=["jsctl auth account rm OLD", "jsctl auth account rm OLD --force --keys"])
@of_account
@option("--keys", "remove_keys", is_flag=True, help="Remove the seeds of the account and its users, too")
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, account: str, operator: str, remove_keys: bool, force: bool) -> Result:
    """Remove its users and their credentials, too. jsctl auth account push --all --prune removes them from
    the servers.
    """
    if force and not account:
        raise BadInput("--force needs the account's name", "specify ACCOUNT")
    store, owner = await pick_operator_account(env, operator, account, default=False, doubted=True)
    if store.load_operator().system_account == owner.public:
        raise BadInput(
            f"{owner.name} is the system account",
            "make another account the system account first:"
            f" {build_line('auth operator edit', store.operator, flags=['--system-account', 'NAME'])}",
        )
    users = store.load_users(owner.name)
    importing = [
        other.name
        for other in store.load_accounts()
        if any(claim.get("account") == owner.public for claim in as_objects(other.nats.get("imports")))
    ]
    if importing:
        env.say(f"jsctl: {', '.join(importing)} import from it")
    description = f"account {owner.name}" + (f" and its {pluralize(len(users), 'user')}" if users else "")
    data = {"removed": owner.name, "key": owner.public, "users": [user.name for user in users]}
    await env.confirm(Intent(f"remove {description}", data), force=force)
    with store.locked():
        remove_account(store, owner.name)
        if remove_keys:
            for public in [
                owner.public,
                *(key.public for key in list_signing_keys(owner.nats)),
                *(user.public for user in users),
            ]:
                store.remove_seed(public)
    return report(f"Account {owner.name} was removed", data)
