"""`jsctl auth account keys info`."""

from jsctl.commands.cli import command
from jsctl.commands.picking.auth import of_signing_key, pick_operator_key
from jsctl.env import Env
from jsctl.views.auth import keys as view
from jsctl.views.result import Result


@command("info", examples=["jsctl auth account keys info ORDERS shipper"])
@of_signing_key
async def info(env: Env, account: str, role: str, key: str, operator: str) -> Result:
    store, owner, signing_key = await pick_operator_key(env, operator, account, role or key)
    return view.info_page(store, owner, signing_key.public)
