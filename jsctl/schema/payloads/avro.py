"""Avro records as Python values."""

import io
import uuid
from collections.abc import Callable
from typing import Any

from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, MissingDependency
from jsctl.schema.remote.definitions import INSTALL_HINT


def load_fastavro() -> Any:
    """Return fastavro, which then also reads UUIDs in `fixed` (Avro 1.12). Raises MissingDependency."""
    try:
        import fastavro
        from fastavro.read import LOGICAL_READERS
    except ImportError:
        raise MissingDependency("fastavro is not installed", INSTALL_HINT) from None
    LOGICAL_READERS.setdefault("fixed-uuid", _read_uuid)
    return fastavro


def _read_uuid(data: bytes, *_: Any) -> uuid.UUID:
    return uuid.UUID(bytes=data)


class AvroReader:
    """A reader of records of one schema.

    text: the schema as JSON. table_text: the one to which records are converted, by Avro's rules, if it is
    another. Raises BadInput, MissingDependency.
    """

    def __init__(self, text: str, table_text: str = "") -> None:
        fastavro = load_fastavro()
        from fastavro.schema import SchemaParseException

        try:
            self.schema = parse_json(table_text or text)  #: of the records that `decode` returns
            self._schema: Any = fastavro.parse_schema(parse_json(text))
            self._table_schema: Any = fastavro.parse_schema(self.schema) if table_text else None
        except (ValueError, KeyError, TypeError, SchemaParseException) as error:
            raise BadInput(f"the Avro schema is not valid: {error}") from None
        self._read: Callable[..., Any] = fastavro.schemaless_reader

    def decode(self, data: bytes) -> Any:
        """Return a record as a dict. Raises ValueError for other data, and for data with bytes after it."""
        stream = io.BytesIO(data)
        try:
            record = self._read(stream, self._schema, self._table_schema)
        except Exception as error:  # fastavro raises many kinds of errors for wrong bytes
            raise ValueError(f"it is not a record of the schema: {error}") from None
        if stream.tell() != len(data):
            raise ValueError("it has more bytes after the record")
        return record
