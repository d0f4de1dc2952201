"""`jsctl auth account mappings info`."""

from jsctl.auth.mappings import find_targets
from jsctl.commands.auth.account.mappings.choose import pick_source
from jsctl.commands.cli import argument, command
from jsctl.commands.picking.auth import account_argument, operator_option, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import mappings as view
from jsctl.views.result import Result


@command("info", examples=["jsctl auth account mappings info ORDERS orders.new"])
@account_argument()
@argument("source", default="")
@operator_option()
async def info(env: Env, account: str, source: str, operator: str) -> Result:
    _, owner = await pick_operator_account(env, operator, account)
    source = await pick_source(env, owner, source)
    return view.info_page(owner, {source: find_targets(owner.nats, source, owner.name)})
