"""`context info`: the settings of a context."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jsctl.base.files import read_bytes
from jsctl.contexts import schemes
from jsctl.contexts.model import FILES, HIDDEN, Context, expand_path
from jsctl.contexts.settings import FILE_KEYS
from jsctl.errors import BadInput, ExitStatus
from jsctl.views.result import Cell, Field, InfoPage, Result, Section

if TYPE_CHECKING:
    from jsctl.nats.context_check import ContextCheck

_PLACES = {
    schemes.FILE: "file",
    schemes.ENV: "environment",
    schemes.DATA: "embedded",
    schemes.OP: "1Password",
    schemes.NSC: "nsc",
}
"""Where a value is, by its scheme."""


def info_page(context: Context, *, show_secrets: bool = False, check: "ContextCheck | None" = None) -> Result:
    """Show what is set, whether files can be read, and the connection when it was tried."""
    document = context.document(show_secrets=show_secrets)
    fields = [
        Field(label, _build_value(key, document[key]), "bool" if isinstance(empty, bool) else "text")
        for key, (_, label, empty) in FILE_KEYS.items()
        if document.get(key)
    ]
    unknown = {key: value for key, value in document.items() if key not in FILE_KEYS and value}
    fields += [Field(key, _build_text(value)) for key, value in unknown.items()]
    fields.append(Field("Path", context.path))
    data: dict[str, Any] = {"name": context.name, **document}
    status = ExitStatus.OK
    if check and check.tried:
        fields.append(Field("Connection", connection_cell(check)))
        data["connection"] = connection_cell(check).raw
        status = check.status
    heading = f'NATS Configuration Context "{context.name}"'
    return Result([InfoPage(heading, [Section("", fields)])], data=data, status=status)


def connection_cell(check: "ContextCheck") -> Cell:
    """Return a cell that says whether a server accepted the context."""
    if not check.tried:
        return Cell(None, "not tried", "dim")
    if check.error:
        return Cell(check.error.message, check.error.message, "bad")
    return Cell("OK", "OK", "good")


def _build_value(key: str, value: Any) -> Any:
    if key not in FILES:
        if key == "url" and "," in str(value):
            return [url.strip() for url in str(value).split(",")]
        return _build_text(value) if not isinstance(value, bool) else value
    if reference := schemes.parse(str(value)):
        return Cell(value, f"{value} ({_PLACES[reference.scheme]})")
    if value == HIDDEN:
        return Cell(value, f"{value} ({_PLACES[schemes.DATA]})")
    try:
        read_bytes(expand_path(str(value)))
        return Cell(value, f"{value} (OK)")
    except BadInput:
        return Cell(value, f"{value} (ERROR)", "bad")


def _build_text(value: Any) -> Any:
    if isinstance(value, Mapping):
        return HIDDEN if HIDDEN in value.values() else str(dict(value))
    return value
