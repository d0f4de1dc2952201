"""`jsctl auth expirations`."""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jsctl.auth.claims import as_number, as_text
from jsctl.auth.environment import Environment, read_claims, read_environment
from jsctl.base.units import SECOND, format_duration, format_exact_duration, format_rfc3339
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.picking.auth import operator_option, pick_operator
from jsctl.env import Env
from jsctl.views.result import Cell, Column, Result, Style, Table


class Expiration(NamedTuple):
    """The expiry of a JWT. kind: operator, account, user, credentials or activation. expires: in seconds
    since 1970; 0 if it never expires."""

    kind: str
    account: str
    name: str
    public: str
    expires: int


def list_expirations(environment: Environment) -> list[Expiration]:
    """Return when each JWT expires, the next one first and those that never expire last."""
    expirations = list(_iterate_expirations(environment))
    return sorted(expirations, key=lambda expiration: (expiration.expires == 0, expiration.expires))


def _iterate_expirations(environment: Environment) -> Iterator[Expiration]:
    operator = environment.operator
    yield Expiration("operator", "", operator.name, operator.public, operator.expires)
    for account in environment.accounts:
        yield Expiration("account", account.name, account.name, account.public, account.expires)
        for imported in account.imports:
            if claims := read_claims(as_text(imported.get("token"))):
                subject, end = as_text(imported.get("subject")), as_number(claims.get("exp"))
                yield Expiration("activation", account.name, subject, as_text(claims.get("sub")), end)
        for user in account.users:
            yield Expiration("user", account.name, user.name, user.public, user.expires)
            if user.credentials and user.credentials != user.token:
                end = as_number(read_claims(user.credentials).get("exp"))
                yield Expiration("credentials", account.name, user.name, user.public, end)


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
