"""`auth expirations`."""

from collections.abc import Sequence

from jsctl.auth.expirations import Expiration
from jsctl.base.units import SECOND, format_duration, format_rfc3339
from jsctl.views.result import Cell, Column, Result, Style, Table

_COLUMNS = (
    Column("Expires", "expires"),
    Column("State", "state"),
    Column("In", "left", "duration"),
    Column("Kind", "kind"),
    Column("Account", "account"),
    Column("Name", "name"),
    Column("Subject", "subject"),
)

_STYLES: dict[str, Style] = {"expired": "bad", "soon": "warn"}


def expirations_result(expirations: Sequence[Expiration], now: int, within: int, empty: str) -> Result:
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
    return Result([Table("Expirations", _COLUMNS, rows, spare=("subject", "left_ns"), empty=empty)])
