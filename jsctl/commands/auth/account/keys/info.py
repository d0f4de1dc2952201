"""`jsctl auth account keys info`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.picking.auth import (
    account_argument,
    key_option,
    operator_option,
    pick_operator_account,
    pick_signing_key,
)
from jsctl.env import Env
from jsctl.views.auth import keys as view
from jsctl.views.result import Result


@command("info", examples=["jsctl auth account keys info ORDERS shipper"])
@account_argument()
@argument("role", default="", metavar="[ROLE|KEY]")
@key_option()
@operator_option()
async def info(env: Env, account: str, role: str, key: str, operator: str) -> Result:
    store, owner = await pick_operator_account(env, operator, account)
    signing_key = await pick_signing_key(env, owner, role or key, "ROLE")
    return view.sheet(store, owner, signing_key.public)
