"""`jsctl auth user info`."""

from jsctl.commands.auth.choose import (
    account_argument,
    operator_option,
    pick_operator,
    pick_user,
    pick_user_account,
    user_argument,
)
from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.views.auth import user as view
from jsctl.views.result import Result


@command("info", examples=["jsctl auth user info alice ORDERS", "jsctl auth user info alice --json"])
@user_argument()
@account_argument()
@operator_option()
async def info(env: Env, name: str, account: str, operator: str) -> Result:
    """--json prints the claims as they are in the JWT."""
    store = await pick_operator(env, operator)
    owner = await pick_user_account(env, store, name, account)
    return view.sheet(await pick_user(env, store, owner, name), owner)
