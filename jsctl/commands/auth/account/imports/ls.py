"""`jsctl auth account imports ls`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import account_argument, operator_argument, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import sharing as view
from jsctl.views.result import Result


@command(
    "ls",
    columns=view.IMPORT_COLUMNS,
    examples=["jsctl auth account imports ls SHOP", "jsctl auth account imports ls SHOP ACME"],
)
@account_argument()
@operator_argument("operator")
async def ls(env: Env, account: str, operator: str) -> Result:
    store, owner = await pick_operator_account(env, operator, account)
    return view.imports(owner, store)
