"""Revocations of an account."""

from jsctl.auth.claims import ALL
from jsctl.auth.records import Record
from jsctl.auth.revocations import list_revocations
from jsctl.auth.store import AuthStore
from jsctl.base.units import SECOND, format_time
from jsctl.views.result import Cell, Column, Result, Table

COLUMNS = (
    Column("Kind", "kind"),
    Column("Export", "export", optional=True),
    Column("Name", "name"),
    Column("Key", "key"),
    Column("Signed until", "until", "time"),
)


def listing(store: AuthStore, account: Record) -> Result:
    """Show the revocations of an account."""
    names = {user.public: user.name for user in store.load_users(account.name)}
    names |= {other.public: other.name for other in store.load_accounts()} | {ALL: "(all)"}
    rows = [
        (
            "activation" if revocation.export else "user",
            revocation.export,
            names.get(revocation.key, ""),
            revocation.key,
            Cell(revocation.time, format_time(revocation.time * SECOND)),
        )
        for revocation in list_revocations(account.nats)
    ]
    table = Table(f"Revocations of {account.name}", COLUMNS, rows, empty="No revocations")
    return Result([table])
