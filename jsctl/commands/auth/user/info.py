"""`jsctl auth user info`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import of_account, pick_operator_user, user_argument
from jsctl.env import Env
from jsctl.views.auth import user as view
from jsctl.views.result import Result


@command("info", examples=["jsctl auth user info alice ORDERS", "jsctl auth user info alice --json"])
@user_argument()
@of_account
async def info(env: Env, name: str, account: str, operator: str) -> Result:
    """Print the claims as they are in the JWT with --json."""
    _, owner, user = await pick_operator_user(env, operator, account, name)
    return view.info_page(user, owner)
