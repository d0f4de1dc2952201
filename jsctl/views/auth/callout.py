"""The auth callout of an account."""

from jsctl.auth.records import Record
from jsctl.auth.store import AuthStore
from jsctl.views.result import Field, Result, Section, Sheet


def sheet(store: AuthStore, account: Record) -> Result:
    """Show an account's callout; the document is its claim."""
    callout = account.nats.get("authorization") or {}
    users = {user.public: user.name for user in store.load_users(account.name)}
    accounts = {other.public: other.name for other in store.load_accounts()}
    fields = [Field("Enabled", bool(callout.get("auth_users")), "bool")]
    if listed := callout.get("auth_users"):
        fields.append(Field("Users of the Service", [_format_name(key, users) for key in listed]))
    if allowed := callout.get("allowed_accounts"):
        fields.append(Field("Allowed Accounts", [_format_name(key, accounts) for key in allowed]))
    if xkey := callout.get("xkey"):
        fields.append(Field("Encrypted with", str(xkey)))
    heading = f"Auth Callout of Account {account.name}"
    return Result([Sheet(heading, [Section("Configuration", fields)])], data=callout)


def _format_name(key: str, names: dict[str, str]) -> str:
    return f"{names[key]} ({key})" if key in names else key
