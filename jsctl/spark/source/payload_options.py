"""The options of the data source that say which columns are read, and what is made of payloads."""

import base64
from typing import TYPE_CHECKING

from jsctl.errors import BadInput
from jsctl.files import CONFIG_SIZE, read_bytes
from jsctl.spark.decoding.model import WITH_FIELDS, WITH_REGISTRY, WITH_SCHEMA, Decoding, check_kinds
from jsctl.spark.source.option_values import OptionValues
from jsctl.user_folders import expand_home

if TYPE_CHECKING:
    from jsctl.spark.decoding.columns import PayloadColumns

COLUMNS = ("stream", "subject", "sequence", "timestamp", "data", "headers")
"""All columns, in their order."""

BESIDE_PAYLOADS = tuple(name for name in COLUMNS if name != "data")
DECODE_OPTIONS = ("decode", "schema", "schemaFile", "message", "registry", "decompress", "keepData")
"""Options that say what payloads are decoded to."""

_DDL_HINT = 'such as .option("schema", "id BIGINT, name STRING")'


def parse_columns(values: OptionValues) -> "tuple[tuple[str, ...], PayloadColumns | None]":
    """Return the columns to read, in their order, and the maker of payload columns; None for payloads as they
    are.

    Raises BadInput, MissingDependency, and what reading a schema's file raises.
    """
    payload = parse_payload(values, BESIDE_PAYLOADS)
    if payload is None:
        return _choose(values, COLUMNS, _left_out(values, includeData="data")), None
    if values.text("includeData"):
        raise BadInput("options includeData and decode cannot be used together", "use keepData or columns")
    known = (*BESIDE_PAYLOADS, *payload.schema.names)
    return _choose(values, known, _left_out(values)), payload


def _left_out(values: OptionValues, **flags: str) -> set[str]:
    """Return the columns that are not read unless `columns` names them."""
    left_out = {column for option, column in flags.items() if not values.flag(option, True)}
    return left_out if values.flag("includeHeaders", False) else {*left_out, "headers"}


def _choose(values: OptionValues, known: tuple[str, ...], left_out: set[str]) -> tuple[str, ...]:
    text = values.text("columns")
    if not text:
        return tuple(name for name in known if name not in left_out)
    wanted = {part.strip().lower() for part in text.split(",") if part.strip()}
    if unknown := sorted(wanted - {name.lower() for name in known}):
        raise BadInput(f"columns {text!r}: there is no column {unknown[0]}", f"use {', '.join(known)}")
    for option in ("includeHeaders", "includeData", "keepData"):
        if values.text(option):
            raise BadInput(f"options columns and {option} cannot be used together", "give one")
    return tuple(name for name in known if name.lower() in wanted)


def parse_payload(
    values: OptionValues, beside: tuple[str, ...], name: str = "data"
) -> "PayloadColumns | None":
    """Return the maker of payload columns; None for payloads as they are.

    beside: the other columns. name: of the column for payloads that become text or bytes. Raises what
    `parse_columns` does.
    """
    kind, compression = values.text("decode"), values.text("decompress")
    if not kind and not compression:
        for option in DECODE_OPTIONS:
            if values.text(option):
                raise BadInput(f"option {option} is for the option decode", "give both, or leave it out")
        return None
    from jsctl.spark.decoding.columns import PayloadColumns  # only those who decode wait for it

    decoding = _decoding(values, kind, compression)
    keep_data = values.flag("keepData", False) or "data" in values.text("columns").lower().split(",")
    return PayloadColumns(decoding, beside, keep_data, name)


def _decoding(values: OptionValues, kind: str, compression: str) -> Decoding:
    check_kinds(kind, compression)
    for option, kinds in (
        ("schema", WITH_SCHEMA),
        ("schemaFile", WITH_SCHEMA),
        ("message", ("protobuf",)),
        ("registry", WITH_REGISTRY),
        ("keepData", WITH_FIELDS),
    ):
        if values.text(option) and kind not in kinds:
            raise BadInput(f"option {option} is for decode {' or '.join(kinds)}", "leave it out")
    return Decoding(
        kind,
        _schema(values, kind) if kind in WITH_SCHEMA else b"",
        values.text("message"),
        compression,
        values.flag("registry", False),
    )


def _schema(values: OptionValues, kind: str) -> bytes:
    text, file = values.text("schema"), values.text("schemaFile")
    if bool(text) == bool(file):
        if text:
            raise BadInput("options schema and schemaFile cannot be used together", "give one")
        raise BadInput(
            f"decode {kind} needs a schema",
            _DDL_HINT if kind == "json" else "give its text as schema, or a path as schemaFile",
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
            "give the descriptor file of protoc in base64, or its path as schemaFile",
        ) from None
