"""How payloads are decoded, as exports, frames and the data source say it."""

from dataclasses import dataclass

from jsctl.errors import BadInput
from jsctl.spark.decoding import compression

KINDS = ("json", "variant", "avro", "protobuf", "text", "base64")
WITH_SCHEMA = ("json", "avro", "protobuf")
"""Those that have a schema, and a column for each of its fields."""
WITH_FIELDS = ("json", "variant", "avro", "protobuf")
"""Those that leave room for a column with the payload."""
WITH_REGISTRY = ("avro", "protobuf")

BAD_PAYLOAD = "bad_payload"


@dataclass(frozen=True, slots=True)
class Decoding:
    """The way to decode payloads.

    kind: one of KINDS; empty for bytes. schema: the fields as `parse_ddl` reads them, an Avro schema as JSON,
    or a Protobuf descriptor file. message: the Protobuf message. compression: as `decompress` takes it; empty
    for none. registry: payloads begin with the id of a schema, as clients of a schema registry write them.
    """

    kind: str = ""
    schema: bytes = b""
    message: str = ""
    compression: str = ""
    registry: bool = False


def check_kinds(kind: str, kind_of_compression: str) -> None:
    """Raise BadInput for an unknown kind of decoding or of compression; both may be empty."""
    if kind and kind not in KINDS:
        raise BadInput(f"decode {kind!r} is not one of {', '.join(KINDS)}")
    compressions = (*compression.KINDS, compression.AUTO)
    if kind_of_compression and kind_of_compression not in compressions:
        raise BadInput(f"decompress {kind_of_compression!r} is not one of {', '.join(compressions)}")
