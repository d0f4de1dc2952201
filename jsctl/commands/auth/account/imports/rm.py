"""`jsctl auth account imports rm`."""

from jsctl.auth.changes import change_account
from jsctl.auth.records import Json, remove_member
from jsctl.auth.sharing import find_import
from jsctl.commands.auth.account.exports.choose import pick_import
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


@command("rm", examples=["jsctl auth account imports rm 'orders.>' SHOP --force"])
@argument("subject")
@of_account
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, subject: str, account: str, operator: str, force: bool) -> Result:
    """Remove the import at SUBJECT in this account."""
    store, owner = await pick_operator_account(env, operator, account)
    await pick_import(env, owner, subject)
    data = {"account": owner.name, "removed": subject}
    await env.confirm(Intent(f"remove the import {subject} of {owner.name}", data), force=force)

    def change(nats: Json) -> None:
        remove_member(nats, "imports", find_import(nats, subject, owner.name))

    change_account(store, owner.name, change)
    return report(f"The import {subject} was removed from {owner.name}", data)
