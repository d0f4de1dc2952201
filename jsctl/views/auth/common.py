"""Fields that the info pages of operators, accounts and users share."""

from collections.abc import Sequence
from typing import Any, cast

from jsctl.auth.fields import UNLIMITED, Cap, CapBytes
from jsctl.auth.records import Json, Record
from jsctl.auth.store import AuthStore
from jsctl.base.units import SECOND, format_bytes, format_count, format_exact_duration
from jsctl.jetstream.config.field import Field as ConfigField
from jsctl.jetstream.config.kinds import Choice, Switch
from jsctl.jetstream.config.schema import Schema, get_value
from jsctl.views import result
from jsctl.views.result import Cell, Field


def list_users(store: AuthStore, account: Record) -> list[Json]:
    """Return the users of an account for the document of an operator or account. Their JWTs, which may be all
    that a login needs, are left out."""
    return [{"name": name} for name in store.list_user_names(account.name)]


def build_doubt_fields(record: Record) -> list[Field]:
    """Return the field that says why a JWT is not genuine; none when it is."""
    return [Field("Not Genuine", Cell(str(record.doubt), str(record.doubt), "bad"))] if record.doubt else []


def build_document(record: Record) -> Json:
    """Return the claims as they are in the JWT, with `not_genuine` beside them if it is not."""
    return {**record.claims, "not_genuine": str(record.doubt)} if record.doubt else record.claims


def format_doubt(record: Record) -> Cell:
    """Return the cell of a list for a JWT that is not genuine; an empty one when it is."""
    return Cell(str(record.doubt) if record.doubt else "", record.doubt.reason if record.doubt else "", "bad")


def build_validity_fields(record: Record) -> list[Field]:
    """Return the fields for the time of signing and the period of validity."""
    labels = (("iat", "Issued"), ("nbf", "Not Before"), ("exp", "Expiry"))
    times = [(label, record.claims.get(key)) for key, label in labels]
    return [Field(label, seconds * SECOND, "time") for label, seconds in times if isinstance(seconds, int)]


def build_claim_fields(schema: Schema, nats: Json, *keys: str) -> list[Field]:
    """Return the fields of an info page for these keys, with their labels.

    A key without a value is left out if its field has no default.
    """
    fields = []
    for key in keys:
        field = schema.by_key[key]
        value = get_value(nats, field.path)
        if value is None or value == "" or value == []:
            value = field.default
        if value is not None:
            fields.append(_build_line(field, value))
    return fields


def _build_line(field: ConfigField, value: Any) -> Field:
    kind = field.kind
    if isinstance(kind, (Cap, CapBytes)):
        return Field(field.label, format_cap(value, in_bytes=isinstance(kind, CapBytes)))
    if isinstance(kind, Switch):
        return Field(field.label, kind.to_shown(value), "bool")
    if isinstance(kind, Choice):
        return Field(field.label, kind.describe(str(value)))
    if field.key.endswith("ttl"):
        return Field(
            field.label, Cell(value, format_exact_duration(value) if value else "default of the server")
        )
    if field.key == "times":
        return Field(field.label, [f"{span.get('start')} to {span.get('end')}" for span in value])
    return Field(field.label, value, cast(result.Kind, kind.shown_as))


def format_cap(value: Any, *, in_bytes: bool = False) -> Cell:
    """Return the cell of a limit, where -1 is unlimited."""
    if not isinstance(value, int) or value == UNLIMITED:
        return Cell(None if value == UNLIMITED else value, "unlimited")
    return Cell(value, format_bytes(value) if in_bytes else format_count(value))


def build_permission_fields(permissions: Json) -> list[Field]:
    """Return the fields for publish and subscribe permissions."""
    fields = []
    for way, label in (("pub", "Publish"), ("sub", "Subscribe")):
        rules = permissions.get(way) or {}
        for rule in ("allow", "deny"):
            if rules.get(rule):
                fields.append(Field(f"{label} {rule.capitalize()}", _list_texts(rules[rule])))
    return fields


def _list_texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, Sequence) and not isinstance(value, str) else []
