"""`jsctl auth user ls`."""

from functools import partial

from jsctl.commands.cli import command, option
from jsctl.commands.picking.auth import load_each, of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import names_result
from jsctl.views.auth import user as view
from jsctl.views.result import Result


@command(
    "ls", columns=view.COLUMNS, examples=["jsctl auth user ls ORDERS", "jsctl auth user ls ORDERS --names"]
)
@of_account
@option("--names", is_flag=True, help="Only names, one per line")
async def ls(env: Env, account: str, operator: str, names: bool) -> Result:
    store, owner = await pick_operator_account(env, operator, account, doubted=True)
    if names:
        return names_result(store.list_user_names(owner.name))
    names_of_users = store.list_user_names(owner.name)
    return view.listing(owner, load_each(env, names_of_users, partial(store.load_user, owner.name)))
