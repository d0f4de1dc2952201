"""`jsctl auth account revocations rm`."""

import copy

from jsctl.auth.changes import change_account
from jsctl.auth.revocations import find_key, list_revocations, remove_revocation
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import revocations as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result


@command("rm", examples=["jsctl auth account revocations rm alice ORDERS --force"])
@argument("name", metavar="NAME|KEY|*")
@of_account
@option(
    "--export",
    metavar="SUBJECT",
    default="",
    selects=True,
    help="Export whose activation tokens the revocation is for",
)
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, name: str, account: str, operator: str, export: str, force: bool) -> Result:
    """Make old credentials valid again, once the account is pushed."""
    store, owner = await pick_operator_account(env, operator, account)
    listed = {revocation.key for revocation in list_revocations(owner.nats)}
    key = name if name in listed else find_key(store, owner, name, of_export=bool(export))
    remove_revocation(copy.deepcopy(owner.nats), export, key, owner.name)  # NotFound before the question
    facts = {"account": owner.name, "key": key, "export": export}
    await env.confirm(Intent(f"accept what was signed for {name} again", facts), force=force)
    owner = change_account(store, owner.name, lambda nats: remove_revocation(nats, export, key, owner.name))
    return view.listing(store, owner)._replace(is_report=True)
