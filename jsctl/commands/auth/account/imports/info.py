"""`jsctl auth account imports info`."""

from jsctl.commands.auth.account.exports.choose import pick_import
from jsctl.commands.cli import argument, command
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import sharing as view
from jsctl.views.result import Result


@command("info", examples=["jsctl auth account imports info 'orders.>' SHOP"])
@argument("subject", default="")
@of_account
async def info(env: Env, subject: str, account: str, operator: str) -> Result:
    """Show the import that has SUBJECT in this account."""
    store, owner = await pick_operator_account(env, operator, account)
    return view.import_sheet(await pick_import(env, owner, subject), store, owner)
