"""`auth operator`."""

from collections.abc import Sequence

from jsctl.auth.folders import StoreFolders
from jsctl.auth.records import Record, list_signing_keys
from jsctl.auth.store import AuthStore
from jsctl.views.auth.common import (
    build_document,
    build_doubt_fields,
    build_validity_fields,
    format_doubt,
    list_users,
)
from jsctl.views.result import Cell, Column, Field, InfoPage, Result, Section, Table

COLUMNS = (
    Column("Name", "name"),
    Column("Subject", "subject"),
    Column("Accounts", "accounts", "count"),
    Column("Account Server", "account_server", "url", optional=True),
    Column("Signing Keys", "signing_keys", "count"),
    Column("Not Genuine", "not_genuine", "prose", optional=True),
)


def info_page(store: AuthStore) -> Result:
    """Show an operator; the document is its claims, with its JWT and accounts as in `nats`, without seeds."""
    operator = store.load_operator()
    nats = operator.nats
    system = str(nats.get("system_account") or "")
    fields = [
        *build_doubt_fields(operator),
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
    accounts = [
        {"name": account.name, "token": account.token, "users": list_users(store, account)}
        for account in store.load_accounts()
    ]
    data = {**build_document(operator), "token": operator.token, "accounts": accounts}
    heading = f"Operator {operator.name} ({operator.public})"
    return Result([InfoPage(heading, [Section("Configuration", fields)])], data=data)


def listing(folders: StoreFolders, operators: Sequence[Record], selected: str) -> Result:
    """Show all operators; a star marks the selected one."""
    rows = [
        (
            Cell(operator.name, f"{operator.name}*", "good") if operator.name == selected else operator.name,
            operator.public,
            len(folders.list_accounts(operator.name)),
            str(operator.nats.get("account_server_url") or ""),
            len(list_signing_keys(operator.nats)),
            format_doubt(operator),
        )
        for operator in operators
    ]
    table = Table("Operators", COLUMNS, rows, empty="No operators")
    return Result([table])


KEY_COLUMNS = (Column("Key", "key"), Column("Seed", "seed", "bool"), Column("Accounts", "accounts", "count"))


def keys(rows: Sequence[tuple[str, bool, int]]) -> Result:
    """Show signing keys. rows: public key, whether the store has its seed, number of accounts that it
    signed."""
    return Result([Table("Signing Keys", KEY_COLUMNS, rows, empty="No signing keys")])


def _format_account(store: AuthStore, public: str) -> str:
    """Return an account's name and key; only the key when the store does not have the account."""
    name = next((account.name for account in store.load_accounts() if account.public == public), "")
    return f"{name} ({public})" if name else public
