"""`jsctl auth account exports ls`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import sharing as view
from jsctl.views.result import Result


@command("ls", columns=view.EXPORT_COLUMNS, examples=["jsctl auth account exports ls ORDERS"])
@of_account
async def ls(env: Env, account: str, operator: str) -> Result:
    store, owner = await pick_operator_account(env, operator, account)
    return view.exports(owner, store)
