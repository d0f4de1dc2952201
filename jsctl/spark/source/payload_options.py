"""The options of the data source that select columns and decode payloads."""

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from jsctl.base.files import CONFIG_SIZE, read_bytes
from jsctl.base.user_folders import expand_home
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.spark.decoding.model import (
    WITH_FIELDS,
    WITH_REGISTRY,
    WITH_SCHEMA,
    Decoding,
    check_kinds,
    parse_registry,
)
from jsctl.spark.source import kafka_names
from jsctl.spark.source.option_values import OptionValues

if TYPE_CHECKING:
    from jsctl.spark.decoding.columns import PayloadColumns

COLUMNS = ("stream", "subject", "sequence", "timestamp", "data", "headers")
"""All columns, in their order."""

BESIDE_PAYLOADS = tuple(name for name in COLUMNS if name != "data")
DECODE_OPTIONS = ("decode", "schema", "schemaFile", "message", "registry", "decompress", "keepData")
"""Options of the decoding of payloads."""

_DDL_HINT = 'such as .option("schema", "id BIGINT, name STRING")'


FindSchema = Callable[[Decoding], Decoding]
"""Returns a decoding with the schema of payloads, from the registry that it names."""


def parse_columns(
    values: OptionValues, login: Settings, find_schema: FindSchema | None
) -> "tuple[tuple[str, ...], PayloadColumns | None]":
    """Return the columns to read, in their order, and the maker of payload columns; None for payloads as they
    are.

    login: of a schema registry. find_schema: finds the schema if no option has it. Raises BadInput,
    MissingDependency, and the errors of reading a schema's file.
    """
    payload = parse_payload(values, BESIDE_PAYLOADS, login, find_schema)
    if payload is None:
        return _choose(values, COLUMNS, _list_left_out(values, includeData="data")), None
    if values.get_text("includeData"):
        raise BadInput("options includeData and decode cannot be used together", "use keepData or columns")
    available = (*BESIDE_PAYLOADS, *payload.schema.names)
    return _choose(values, available, _list_left_out(values)), payload


def _list_left_out(values: OptionValues, **flags: str) -> set[str]:
    """Return the columns that are not read unless `columns` names them."""
    left_out = {column for option, column in flags.items() if not values.parse_flag(option, True)}
    return left_out if values.parse_flag("includeHeaders", False) else {*left_out, "headers"}


def _choose(values: OptionValues, available: tuple[str, ...], left_out: set[str]) -> tuple[str, ...]:
    text = values.get_text("columns")
    if not text:
        return tuple(name for name in available if name not in left_out)
    chosen = {part.strip().lower() for part in text.split(",") if part.strip()}
    if unknown := sorted(chosen - {name.lower() for name in available}):
        meaning = kafka_names.find_column(unknown[0])
        raise BadInput(
            f"columns {text!r}: there is no column {unknown[0]}{meaning and ': ' + meaning}",
            f"use {', '.join(available)}",
        )
    for option in ("includeHeaders", "includeData", "keepData"):
        if values.get_text(option):
            raise BadInput(f"options columns and {option} cannot be used together", "use only one")
    return tuple(name for name in available if name.lower() in chosen)


def parse_payload(
    values: OptionValues,
    other_columns: tuple[str, ...],
    login: Settings,
    find_schema: FindSchema | None,
    name: str = "data",
) -> "PayloadColumns | None":
    """Return the maker of payload columns; None for payloads as they are.

    other_columns: those beside. login, find_schema: as for `parse_columns`. name: of the column for payloads
    that become text or bytes. Raises what `parse_columns` does.
    """
    kind, compression = values.get_text("decode"), values.get_text("decompress")
    if not kind and not compression:
        for option in DECODE_OPTIONS:
            if values.get_text(option):
                raise BadInput(f"option {option} needs the option decode", "set both, or remove it")
        return None
    from jsctl.spark.decoding.columns import PayloadColumns  # slow to import, and needed only for decoding

    decoding = _parse_decoding(values, kind, compression, login, find_schema)
    keep_data = values.parse_flag("keepData", False) or "data" in values.get_text("columns").lower().split(
        ","
    )
    return PayloadColumns(decoding, other_columns, keep_data, name)


def _parse_decoding(
    values: OptionValues, kind: str, compression: str, login: Settings, find_schema: FindSchema | None
) -> Decoding:
    check_kinds(kind, compression)
    for option, kinds in (
        ("schema", WITH_SCHEMA),
        ("schemaFile", WITH_SCHEMA),
        ("message", ("protobuf",)),
        ("registry", WITH_REGISTRY),
        ("keepData", WITH_FIELDS),
    ):
        if values.get_text(option) and kind not in kinds:
            raise BadInput(f"option {option} is for decode {' or '.join(kinds)}", "remove it")
    registry = parse_registry(values.get_text("registry"))
    decoding = Decoding(kind, b"", values.get_text("message"), compression, registry, login)
    has_schema = values.get_text("schema") or values.get_text("schemaFile")
    if decoding.has_address and not has_schema and find_schema:
        return find_schema(decoding)
    return replace(decoding, schema=_read_schema(values, kind)) if kind in WITH_SCHEMA else decoding


def _read_schema(values: OptionValues, kind: str) -> bytes:
    text, file = values.get_text("schema"), values.get_text("schemaFile")
    if bool(text) == bool(file):
        if text:
            raise BadInput("options schema and schemaFile cannot be used together", "use only one")
        raise BadInput(
            f"decode {kind} needs a schema",
            _DDL_HINT if kind == "json" else "set schema to its text, or schemaFile to its path",
        )
    if file:
        return read_bytes(expand_home(file), "option schemaFile", CONFIG_SIZE)
    if kind != "protobuf":
        return text.encode()
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise BadInput(
            "option schema of decode protobuf is not base64",
            "set schema to the descriptor file of protoc in base64, or schemaFile to its path",
        ) from None
