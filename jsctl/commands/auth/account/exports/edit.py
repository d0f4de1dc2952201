"""`jsctl auth account exports edit`."""

from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Options:
    subject: str
    account: str
    operator: str
    export: Mapping[str, Any]


@command("edit", examples=["jsctl auth account exports edit 'orders.>' ORDERS --private"])
@argument("subject")
@of_account
@export_flags
async def edit(env: Env, options: Options) -> Result:
    """Change what the flags name; other settings stay as they are."""
    if not options.export:
        raise BadInput("there is nothing to change", "use flags for what to set")
    store, account = await pick_operator_account(env, options.operator, options.account)
    await pick_export(env, account, options.subject)

    def change(nats: Json) -> None:
        change_export(find_export(nats, options.subject, account.name), options.export)

    account = change_account(store, account.name, change)
    return view.export_sheet(find_export(account.nats, options.subject, account.name), store, account)
