"""Contexts as people see them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.contexts.model import FILES, HIDDEN, KEYS, Context, expand_path
from jsctl.errors import ExitStatus, JsctlError
from jsctl.views.result import Cell, Column, Field, Result, Section, Sheet, Table, Text

_LABELS = {
    "description": "Description",
    "url": "Server URLs",
    "socks_proxy": "SOCKS5 Proxy",
    "user": "Username",
    "password": "Password",
    "token": "Token",
    "user_jwt": "User JWT",
    "user_seed": "User Seed",
    "creds": "Credentials",
    "nkey": "NKey",
    "cert": "Certificate",
    "key": "Key",
    "windows_cert_store": "Certificate Store",
    "windows_cert_match": "Certificate Store Match",
    "windows_cert_match_by": "Certificate Store Match By",
    "windows_ca_certs_match": "Certificate Store CA Match",
    "ca": "CA",
    "tls_first": "TLS First",
    "nsc": "NSC Lookup",
    "jetstream_api_prefix": "JS API Prefix",
    "jetstream_event_prefix": "JS Event Prefix",
    "jetstream_domain": "JS Domain",
    "inbox_prefix": "Inbox Prefix",
    "color_scheme": "Color Scheme",
}

_LIST = (Column("Name", "name"), Column("Description", "description"))


class Checked(NamedTuple):
    """What a check of a context found. `connection`: the failure, or None for a good one; `tried`:
    whether it was tried."""

    name: str
    problems: Sequence[str]
    tried: bool = False
    connection: JsctlError | None = None

    @property
    def status(self) -> ExitStatus:
        if self.problems:
            return ExitStatus.FAILURE
        return self.connection.status if self.connection else ExitStatus.OK


def listing(contexts: Sequence[Context], selected: str, *, show_secrets: bool = False) -> Result:
    """`context ls`: the selected one is marked with a star."""
    data = [
        {"name": c.name, **c.document(show_secrets=show_secrets), "selected": c.name == selected}
        for c in contexts
    ]
    if not contexts:
        return Result([Text("No known contexts")], data=data)
    rows = [
        (Cell(c.name, c.name + "*", "good") if c.name == selected else c.name, c.get("description"))
        for c in contexts
    ]
    return Result([Table("Known Contexts", _LIST, rows)], data=data)


def names(contexts: Sequence[str]) -> Result:
    """One name a line."""
    return Result([Text("\n".join(contexts))] if contexts else [], data=list(contexts))


def info(context: Context, *, show_secrets: bool = False, checked: Checked | None = None) -> Result:
    """`context info`: what is set, whether its files can be read, and the connection when tried."""
    document = context.document(show_secrets=show_secrets)
    fields = [
        Field(label, _value(key, document[key]), "bool" if key == "tls_first" else "text")
        for key, label in _LABELS.items()
        if document[key]
    ]
    fields += [Field(key, _plain(value)) for key, value in document.items() if key not in KEYS and value]
    fields.append(Field("Path", context.path))
    data: dict[str, Any] = {"name": context.name, **document}
    status = ExitStatus.OK
    if checked and checked.tried:
        fields.append(Field("Connection", _connection(checked)))
        data["connection"] = _connection(checked).raw
        status = checked.status
    sheet = Sheet(f'NATS Configuration Context "{context.name}"', [Section("", fields)])
    return Result([sheet], data=data, status=status)


def validation(found: Sequence[Checked]) -> Result:
    """`context validate`: a line a context; fails when one of them does."""
    tried = any(checked.tried for checked in found)
    data = [
        {"name": c.name, "valid": not c.problems, "problems": list(c.problems)}
        | ({"connection": _connection(c).raw} if tried else {})
        for c in found
    ]
    if not found:
        return Result([Text("No known contexts")], data=data)
    columns = [Column("Name", "name"), Column("Context", "valid")]
    if tried:
        columns.append(Column("Connection", "connection"))
    rows = []
    for checked in found:
        problems = "; ".join(checked.problems)
        row: list[Any] = [checked.name, Cell(not problems, problems or "OK", "bad" if problems else "good")]
        rows.append([*row, _connection(checked)] if tried else row)
    status = next((c.status for c in found if c.status), ExitStatus.OK)
    return Result([Table("Context Validation", columns, rows)], data=data, status=status)


def _connection(checked: Checked) -> Cell:
    if not checked.tried:
        return Cell(None, "not tried", "dim")
    if checked.connection:
        return Cell(checked.connection.message, checked.connection.message, "bad")
    return Cell("OK", "OK", "good")


def _value(key: str, value: Any) -> Any:
    if key not in FILES:
        return _plain(value) if key != "tls_first" else value
    if str(value).startswith("op://"):
        return Cell(value, f"{value} (1Password)")
    try:
        with expand_path(str(value)).open("rb"):
            return Cell(value, f"{value} (OK)")
    except OSError:
        return Cell(value, f"{value} (ERROR)", "bad")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return HIDDEN if HIDDEN in value.values() else str(dict(value))
    return value
