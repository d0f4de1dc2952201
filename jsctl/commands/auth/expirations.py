"""`jsctl auth expirations`."""

import time
from collections.abc import Sequence

from jsctl.auth.environment import read_environment
from jsctl.auth.expirations import Expiration, list_expirations
from jsctl.base.units import SECOND, format_duration, format_exact_duration, format_rfc3339
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.picking.auth import operator_option, pick_operator
from jsctl.env import Env
from jsctl.views.result import Cell, Column, Result, Style, Table

_COLUMNS = (
    Column("Expires", "expires"),
    Column("State", "state"),
    Column("In", "left", "duration", hideable=1),
    Column("Kind", "kind"),
    Column("Account", "account"),
    Column("Name", "name"),
    Column("Subject", "subject", hideable=2),
)

_STYLES: dict[str, Style] = {"expired": "bad", "soon": "warn"}


def _show_expirations_result(expirations: Sequence[Expiration], now: int, within: int, empty: str) -> Result:
    """Show when JWTs expire. now: ns since 1970. within: ns from now in which an expiry is soon."""
    rows = []
    for expiration in expirations:
        remaining = expiration.expires * SECOND - now
        state = "later" if expiration.expires else "never"
        if expiration.expires and remaining <= within:
            state = "soon" if remaining > 0 else "expired"
        time = format_rfc3339(expiration.expires * SECOND) if expiration.expires else ""
        text = format_duration(remaining) if remaining > 0 else f"{format_duration(-remaining)} ago"
        rows.append(
            (
                Cell(time or None, time or "never"),
                Cell(state, state, _STYLES.get(state, "")),
                Cell(remaining, text) if expiration.expires else Cell(None, ""),
                expiration.kind,
                expiration.account,
                expiration.name,
                expiration.public,
            )
        )
    return Result([Table("Expirations", _COLUMNS, rows, empty=empty)])


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
    return _show_expirations_result(entries, now, 0 if within is None else within, empty)
