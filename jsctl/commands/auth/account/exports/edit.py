"""`jsctl auth account exports edit`."""

from collections.abc import Mapping
from typing import Any

from jsctl.auth.changes import change_account
from jsctl.auth.records import Json
from jsctl.auth.sharing import change_export, find_export
from jsctl.commands.auth.account.exports.choose import pick_export
from jsctl.commands.auth.account.exports.flags import export_flags
from jsctl.commands.cli import argument, command
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.auth import sharing as view
from jsctl.views.result import Result


@command("edit", examples=["jsctl auth account exports edit 'orders.>' ORDERS --private"])
@argument("subject")
@of_account
@export_flags
async def edit(env: Env, subject: str, account: str, operator: str, export: Mapping[str, Any]) -> Result:
    """Change what the flags name; other settings stay as they are."""
    if not export:
        raise BadInput("there is nothing to change", "use flags for what to set")
    store, owner = await pick_operator_account(env, operator, account)
    await pick_export(env, owner, subject)

    def change(nats: Json) -> None:
        change_export(find_export(nats, subject, owner.name), export)

    owner = change_account(store, owner.name, change)
    return view.export_sheet(find_export(owner.nats, subject, owner.name), store, owner)
