"""Signing keys of accounts."""

from jsctl.auth.fields import USER
from jsctl.auth.records import Json, Record, SigningKey, get_signing_key, list_signing_keys
from jsctl.auth.store import AuthStore
from jsctl.views.auth.common import build_claim_fields, format_cap
from jsctl.views.auth.user import LIMITS, build_permission_lines, fill_zero_limits
from jsctl.views.result import Cell, Column, Field, InfoPage, Result, Section, Table

COLUMNS = (
    Column("Role", "role"),
    Column("Key", "key"),
    Column("Description", "description", "prose", optional=True),
    Column("Max Subs", "subscriptions", hideable=1),
    Column("Pub Perms", "pub_permissions", "count"),
    Column("Sub Perms", "sub_permissions", "count"),
    Column("Users", "users", "count"),
    Column("Seed", "seed", "bool", hideable=2),
)


def listing(store: AuthStore, account: Record) -> Result:
    """Show the signing keys of an account."""
    issuers = [user.issuer for user in store.load_users(account.name)]
    rows = [
        (
            key.role or Cell("", "(no scope)"),
            key.public,
            _get_description(key),
            format_cap(key.template.get("subs", 0)) if key.scope else Cell(None, ""),
            _count_rules(key.template, "pub"),
            _count_rules(key.template, "sub"),
            issuers.count(key.public),
            store.has_seed(key.public),
        )
        for key in list_signing_keys(account.nats)
    ]
    return Result([Table(f"Signing Keys of {account.name}", COLUMNS, rows, empty="No signing keys")])


def info_page(store: AuthStore, account: Record, public: str) -> Result:
    """Show a signing key; the document is its object in the claims."""
    key = get_signing_key(account.nats, public) or SigningKey(public)
    users = [user.name for user in store.load_users(account.name) if user.issuer == public]
    fields = [
        Field("Account", f"{account.name} ({account.public})"),
        *([Field("Description", text)] if (text := _get_description(key)) else []),
        Field("Key", public),
        Field("Role", key.role or "(no scope)"),
        Field("Seed in the Store", store.has_seed(public), "bool"),
        Field("Users", users or "none"),
    ]
    sections = [Section("Configuration", fields)]
    if key.scope is not None:
        fields += build_claim_fields(USER, key.template, "bearer_token")
        sections.append(Section("Limits", build_claim_fields(USER, fill_zero_limits(key.template), *LIMITS)))
        sections.append(Section("Permissions", build_permission_lines(key.template)))
    return Result([InfoPage(f"Signing Key {public}", sections)], data=key.scope or {"key": public})


def _get_description(key: SigningKey) -> str:
    return str((key.scope or {}).get("description") or "")


def _count_rules(template: Json, way: str) -> int:
    rules = template.get(way) or {}
    return len(rules.get("allow") or ()) + len(rules.get("deny") or ())
