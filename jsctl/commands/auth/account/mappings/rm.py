"""`jsctl auth account mappings rm`."""

from jsctl.auth.changes import change_account
from jsctl.auth.mappings import set_targets, targets_of
from jsctl.auth.records import Json
from jsctl.commands.auth.account.mappings.choose import pick_source
from jsctl.commands.auth.choose import account_argument, operator_option, pick_account, pick_operator
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.views.result import Result


@command("rm", examples=["jsctl auth account mappings rm ORDERS orders.new"])
@account_argument()
@argument("source", default="")
@operator_option()
async def rm(env: Env, account: str, source: str, operator: str) -> Result:
    """All targets of SOURCE are removed."""
    store = await pick_operator(env, operator)
    owner = await pick_account(env, store, account)
    source = await pick_source(env, owner, source)
    targets = targets_of(owner.nats, source, owner.name)

    def change(nats: Json) -> None:
        set_targets(nats, source, [])

    change_account(store, owner.name, change)
    return Result(data={"account": owner.name, "removed": source, "targets": targets})
