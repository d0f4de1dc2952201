"""`jsctl auth account mappings rm`."""

from jsctl.auth.changes import change_account
from jsctl.auth.mappings import find_targets, set_targets
from jsctl.auth.records import Json
from jsctl.commands.auth.account.mappings.choose import pick_source
from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.auth import account_argument, operator_option, pick_operator_account
from jsctl.env import Env
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


@command("rm", examples=["jsctl auth account mappings rm ORDERS orders.new --force"])
@account_argument()
@argument("source", default="")
@operator_option()
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, account: str, source: str, operator: str, force: bool) -> Result:
    """Remove all targets of SOURCE."""
    store, owner = await pick_operator_account(env, operator, account)
    source = await pick_source(env, owner, source)
    targets = find_targets(owner.nats, source, owner.name)
    data = {"account": owner.name, "removed": source, "targets": targets}
    # nats does not ask here; scripts that were written for it have no --force
    without_asking = force or not env.can_ask
    await env.confirm(Intent(f"remove the mapping of {source} from {owner.name}", data), force=without_asking)

    def change(nats: Json) -> None:
        set_targets(nats, source, [])

    change_account(store, owner.name, change)
    return report(f"The mapping of {source} was removed from {owner.name}", data)
