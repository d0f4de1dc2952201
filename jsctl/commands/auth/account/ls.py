"""`jsctl auth account ls`."""

from jsctl.commands.cli import command, option
from jsctl.commands.picking.auth import load_each, operator_argument, pick_operator
from jsctl.env import Env
from jsctl.views.auth import account as view
from jsctl.views.auth import names_result
from jsctl.views.result import Result


@command("ls", columns=view.COLUMNS, examples=["jsctl auth account ls", "jsctl auth account ls ACME --names"])
@operator_argument("operator")
@option("--names", is_flag=True, help="Only names, one per line")
async def ls(env: Env, operator: str, names: bool) -> Result:
    store = await pick_operator(env, operator, flag="OPERATOR")
    if names:
        return names_result(store.list_account_names())
    accounts = load_each(env, store.list_account_names(), store.load_account)
    return view.listing(store, accounts, store.load_operator().system_account)
