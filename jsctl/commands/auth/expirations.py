"""`jsctl auth expirations`."""

import time

from jsctl.auth.environment import read_environment
from jsctl.auth.expirations import list_expirations
from jsctl.base.units import SECOND, format_exact_duration
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.picking.auth import operator_option, pick_operator
from jsctl.env import Env
from jsctl.views.auth.expirations import expirations_result
from jsctl.views.result import Result


@command(
    "expirations",
    columns=(),
    examples=[
        "jsctl auth expirations",
        "jsctl auth expirations --within 30d",
        "jsctl auth expirations --within 1w --json",
    ],
)
@option(
    "--within", type=DURATION, metavar="DURATION", help="Only what has expired or expires within this time"
)
@operator_option()
async def expirations(env: Env, within: int | None, operator: str) -> Result:
    """Check the operator, its accounts and users, credentials files that differ from the store, and
    activation tokens of imports. Without --within, everything is shown; what never expires is last.
    """
    store = await pick_operator(env, operator)
    entries = list_expirations(read_environment(store.folders, store.operator))
    now = time.time_ns()
    if within is not None:
        entries = [
            expiration
            for expiration in entries
            if expiration.expires and expiration.expires * SECOND <= now + within
        ]
    empty = (
        f"Nothing expires within {format_exact_duration(within)}"
        if within is not None
        else "There is nothing to show"
    )
    return expirations_result(entries, now, 0 if within is None else within, empty)
