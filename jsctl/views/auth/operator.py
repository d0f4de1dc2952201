"""`auth operator`."""

from collections.abc import Sequence

from jsctl.auth.folders import StoreFolders
from jsctl.auth.records import Record, list_signing_keys
from jsctl.auth.store import AuthStore
from jsctl.views.auth.common import build_validity_fields
from jsctl.views.result import Cell, Column, Field, Result, Section, Sheet, Table

_COLUMNS = (
    Column("Name", "name"),
    Column("Subject", "subject"),
    Column("Accounts", "accounts", "count"),
    Column("Account Server", "account_server", "url"),
    Column("Signing Keys", "signing_keys", "count"),
)


def sheet(store: AuthStore) -> Result:
    """Show an operator; the document is its claims."""
    operator = store.read_operator()
    nats = operator.nats
    system = str(nats.get("system_account") or "")
    fields = [
        Field("Name", operator.name),
        Field("Subject", operator.public),
        *([Field("Tags", operator.tags)] if operator.tags else []),
        *([Field("Service URLs", urls)] if (urls := nats.get("operator_service_urls")) else []),
        *([Field("Account Server", url)] if (url := nats.get("account_server_url")) else []),
        Field("Accounts", len(store.list_account_names()), "count"),
        Field("System Account", _format_account(store, system) if system else "not set"),
        *(
            [Field("Signing Keys", keys)]
            if (keys := sorted(k.public for k in list_signing_keys(nats)))
            else []
        ),
        Field("Strict Signing", bool(nats.get("strict_signing_key_usage")), "bool"),
        *build_validity_fields(operator),
    ]
    heading = f"Operator {operator.name} ({operator.public})"
    return Result([Sheet(heading, [Section("Configuration", fields)])], data=operator.claims)


def listing(folders: StoreFolders, operators: Sequence[Record], selected: str) -> Result:
    """Show all operators; a star marks the selected one."""
    rows = [
        (
            Cell(operator.name, f"{operator.name}*", "good") if operator.name == selected else operator.name,
            operator.public,
            len(folders.list_accounts(operator.name)),
            str(operator.nats.get("account_server_url") or ""),
            len(list_signing_keys(operator.nats)),
        )
        for operator in operators
    ]
    table = Table("Operators", _COLUMNS, rows, empty="No operators", optional=("account_server",))
    return Result([table])


_KEY_COLUMNS = (Column("Key", "key"), Column("Seed", "seed", "bool"), Column("Accounts", "accounts", "count"))


def keys(rows: Sequence[tuple[str, bool, int]]) -> Result:
    """Show signing keys. rows: public key, whether the store has its seed, number of accounts that it
    signed."""
    return Result([Table("Signing Keys", _KEY_COLUMNS, rows, empty="No signing keys")])


def _format_account(store: AuthStore, public: str) -> str:
    """Return an account's name and key; only the key when the store does not have the account."""
    name = next((account.name for account in store.read_accounts() if account.public == public), "")
    return f"{name} ({public})" if name else public
