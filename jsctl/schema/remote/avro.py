"""The library that reads Avro."""

import uuid
from typing import Any

from jsctl.errors import MissingDependency
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
