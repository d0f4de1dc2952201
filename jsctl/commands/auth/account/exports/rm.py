"""`jsctl auth account exports rm`."""

from jsctl.auth.changes import change_account
from jsctl.auth.records import Json, remove_member
from jsctl.auth.sharing import find_export, list_importers
from jsctl.commands.auth.account.exports.choose import pick_export
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


@command("rm", examples=["jsctl auth account exports rm 'orders.>' ORDERS --force"])
@argument("subject")
@of_account
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, subject: str, account: str, operator: str, force: bool) -> Result:
    store, owner = await pick_operator_account(env, operator, account)
    export = await pick_export(env, owner, subject)
    if importing := list_importers(store, owner, export):
        env.say(f"jsctl: {', '.join(importing)} import it")
    data = {"account": owner.name, "removed": subject, "importers": importing}
    await env.confirm(Intent(f"remove the export {subject} of {owner.name}", data), force=force)

    def change(nats: Json) -> None:
        remove_member(nats, "exports", find_export(nats, subject, owner.name))

    change_account(store, owner.name, change)
    return report(f"The export {subject} was removed from {owner.name}", data)
