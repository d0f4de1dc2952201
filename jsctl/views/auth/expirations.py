"""`auth expirations`."""

from collections.abc import Sequence

from jsctl.auth.expirations import Expiration
from jsctl.units import SECOND, format_duration, format_rfc3339
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
    for one in expirations:
        left = one.expires * SECOND - now
        state = "later" if one.expires else "never"
        if one.expires and left <= within:
            state = "soon" if left > 0 else "expired"
        time = format_rfc3339(one.expires * SECOND) if one.expires else ""
        shown = format_duration(left) if left > 0 else f"{format_duration(-left)} ago"
        rows.append(
            (
                Cell(time or None, time or "never"),
                Cell(state, state, _STYLES.get(state, "")),
                Cell(left, shown) if one.expires else Cell(None, ""),
                one.kind,
                one.account,
                one.name,
                one.public,
            )
        )
    return Result([Table("Expirations", _COLUMNS, rows, spare=("subject", "left_ns"), empty=empty)])
