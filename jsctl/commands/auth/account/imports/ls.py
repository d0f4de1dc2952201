"""`jsctl auth account imports ls`."""

from jsctl.commands.auth.choose import account_argument, operator_argument, pick_account, pick_operator
from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.views.auth import sharing as view
from jsctl.views.result import Result


@command("ls", examples=["jsctl auth account imports ls SHOP", "jsctl auth account imports ls SHOP ACME"])
@account_argument()
@operator_argument("operator")
async def ls(env: Env, account: str, operator: str) -> Result:
    store = await pick_operator(env, operator)
    return view.imports(await pick_account(env, store, account), store)
