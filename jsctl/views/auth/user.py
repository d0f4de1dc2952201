"""`auth user`."""

from collections.abc import Sequence

from jsctl.auth.claims import find_revocation
from jsctl.auth.fields import USER
from jsctl.auth.records import Json, Record, get_signing_key
from jsctl.views.auth.common import (
    build_claim_fields,
    build_document,
    build_doubt_fields,
    build_permission_fields,
    build_validity_fields,
    format_cap,
    format_doubt,
)
from jsctl.views.result import Cell, Column, Field, InfoPage, Result, Section, Table

COLUMNS = (
    Column("Name", "name"),
    Column("Subject", "subject"),
    Column("Role", "role", optional=True),
    Column("Pub Perms", "pub_permissions", "bool"),
    Column("Sub Perms", "sub_permissions", "bool"),
    Column("Max Subs", "subscriptions"),
    Column("Revoked", "revoked", "bool", optional=True),
    Column("Expiry", "expiry", "time", optional=True),
    Column("Not Genuine", "not_genuine", "prose", optional=True),
)
LIMITS = (
    "payload",
    "data",
    "subs",
    "allowed_connection_types",
    "src",
    "times",
    "times_location",
    "proxy_required",
)


def info_page(user: Record, account: Record) -> Result:
    """Show a user with the permissions and limits in effect; the document is its claims."""
    role, rules = find_effective_rules(user, account)
    fields = [
        *build_doubt_fields(user),
        Field("Account", f"{account.name} ({account.public})"),
        Field("Issuer", user.issuer),
        Field("Scoped", role is not None, "bool"),
        *([Field("Role", role)] if role else []),
        *([Field("Tags", user.tags)] if user.tags else []),
        *build_claim_fields(USER, rules, "bearer_token"),
        *build_validity_fields(user),
    ]
    if is_revoked(user, account):
        fields.append(Field("Revoked", Cell(True, "true", "bad")))
    sections = [
        Section("Configuration", fields),
        Section("Limits", build_claim_fields(USER, fill_zero_limits(rules), *LIMITS)),
        Section("Permissions", build_permission_lines(rules)),
    ]
    return Result([InfoPage(f"User {user.name} ({user.public})", sections)], data=build_document(user))


def listing(account: Record, users: Sequence[Record]) -> Result:
    """Show the users of an account."""
    rows = []
    for user in users:
        role, rules = find_effective_rules(user, account)
        expiry = user.claims.get("exp")
        rows.append(
            (
                user.name,
                user.public,
                role or "",
                _format_flag(rules.get("pub")),
                _format_flag(rules.get("sub")),
                format_cap(rules.get("subs", 0)),
                Cell(is_revoked(user, account), "yes" if is_revoked(user, account) else "", "bad"),
                expiry * 1_000_000_000 if isinstance(expiry, int) else None,
                format_doubt(user),
            )
        )
    return Result([Table(f"Users of {account.name}", COLUMNS, rows, empty="No users")])


def find_effective_rules(user: Record, account: Record) -> tuple[str | None, Json]:
    """Return the role (None for a user without one), and the permissions and limits in effect."""
    key = get_signing_key(account.nats, user.issuer)
    return (key.role, key.template) if key and key.scope is not None else (None, user.nats)


def is_revoked(user: Record, account: Record) -> bool:
    """Return whether the account revokes the user's JWT."""
    issued = int(user.claims.get("iat") or 0)
    return bool(find_revocation(account.nats.get("revocations"), user.public, issued))


def build_permission_lines(rules: Json) -> list[Field]:
    """Return the fields for permissions; one that says "everything" if nothing is restricted."""
    fields = build_permission_fields(rules) + build_claim_fields(USER, rules, "resp.max", "resp.ttl")
    return fields or [Field("Allowed", "everything")]


def fill_zero_limits(rules: Json) -> Json:
    """Return limits with those that Go omits because they are 0."""
    return {**dict.fromkeys(("payload", "data", "subs"), 0), **rules}


def _format_flag(rules: object) -> Cell:
    has_rules = isinstance(rules, dict) and any(rules.values())
    return Cell(has_rules, "✓" if has_rules else "")
