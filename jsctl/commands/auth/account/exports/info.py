"""`jsctl auth account exports info`."""

from jsctl.commands.auth.account.exports.choose import pick_export
from jsctl.commands.cli import argument, command
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import sharing as view
from jsctl.views.result import Result


@command("info", examples=["jsctl auth account exports info 'orders.>' ORDERS"])
@argument("subject", default="")
@of_account
async def info(env: Env, subject: str, account: str, operator: str) -> Result:
    """Also show which accounts of the operator import it."""
    store, owner = await pick_operator_account(env, operator, account)
    return view.export_sheet(await pick_export(env, owner, subject), store, owner)
