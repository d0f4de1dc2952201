"""`jsctl auth account revocations ls`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import revocations as view
from jsctl.views.result import Result


@command("ls", columns=view.COLUMNS, examples=["jsctl auth account revocations ls ORDERS"])
@of_account
async def ls(env: Env, account: str, operator: str) -> Result:
    """Show revocations of users, and of activation tokens by export."""
    store, owner = await pick_operator_account(env, operator, account)
    return view.listing(store, owner)
