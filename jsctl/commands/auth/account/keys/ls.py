"""`jsctl auth account keys ls`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import keys as view
from jsctl.views.result import Result


@command("ls", columns=view.COLUMNS, examples=["jsctl auth account keys ls ORDERS"])
@of_account
async def ls(env: Env, account: str, operator: str) -> Result:
    store, owner = await pick_operator_account(env, operator, account)
    return view.listing(store, owner)
