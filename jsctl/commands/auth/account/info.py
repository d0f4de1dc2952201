"""`jsctl auth account info`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import account as view
from jsctl.views.result import Result


@command("info", examples=["jsctl auth account info ORDERS", "jsctl auth account info ORDERS --json"])
@of_account
async def info(env: Env, account: str, operator: str) -> Result:
    """Print the claims as they are in the JWT with --json, with the JWT itself and the names of the users."""
    store, owner = await pick_operator_account(env, operator, account, doubted=True)
    return view.info_page(owner, store)
