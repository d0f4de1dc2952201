"""`jsctl auth account exports add`."""

from collections.abc import Mapping
from typing import Any

from jsctl.auth.changes import change_account
from jsctl.auth.sharing import SERVICE, STREAM, add_export, change_export, check_subject
from jsctl.commands.auth.account.exports.flags import export_flags
from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import sharing as view
from jsctl.views.result import Result


@command(
    "add",
    examples=[
        "jsctl auth account exports add orders 'orders.>' ORDERS",
        "jsctl auth account exports add prices prices.get ORDERS --service --latency latency.prices",
    ],
)
@argument("name")
@argument("subject")
@of_account
@option("--service", is_flag=True, help="Export a service, which answers requests, instead of a stream")
@export_flags
async def add(
    env: Env, name: str, subject: str, account: str, operator: str, service: bool, export: Mapping[str, Any]
) -> Result:
    """Let other accounts import the subject with jsctl auth account imports add."""
    store, owner = await pick_operator_account(env, operator, account)
    kind = SERVICE if service else STREAM
    added: dict[str, Any] = {"name": name, "subject": check_subject(subject), "type": kind}
    change_export(added, export)
    change_account(store, owner.name, lambda nats: add_export(nats, added, owner.name))
    return view.export_sheet(added, store, owner)
