"""`jsctl auth account mappings ls`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import mappings as view
from jsctl.views.result import Result


@command("ls", columns=view.COLUMNS, examples=["jsctl auth account mappings ls ORDERS"])
@of_account
async def ls(env: Env, account: str, operator: str) -> Result:
    _, owner = await pick_operator_account(env, operator, account)
    return view.listing(owner)
