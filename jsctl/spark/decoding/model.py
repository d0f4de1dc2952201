"""The description of how payloads are decoded, for exports, frames and the data source."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.schema.payloads import compression
from jsctl.schema.remote.registry import NO_LOGIN, parse_url

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("json", "variant", "avro", "protobuf", "text", "base64")
WITH_SCHEMA = ("json", "avro", "protobuf")
"""Kinds with a schema, and a column for each of its fields."""
WITH_FIELDS = ("json", "variant", "avro", "protobuf")
"""Kinds beside whose columns the payload may be kept."""
WITH_REGISTRY = ("avro", "protobuf")

SKIP_ID = "true"
"""In place of a registry's address: the id is skipped."""

BAD_PAYLOAD = "bad_payload"


@dataclass(frozen=True, slots=True)
class Decoding:
    """The way to decode payloads.

    kind: one of KINDS; empty for bytes. schema: fields for `parse_ddl`, an Avro schema as JSON, or a Protobuf
    descriptor file. message: the Protobuf message. compression: a kind for `decompress`; empty for none.
    registry: payloads begin with the id of a schema, as clients of a schema registry write them: the address
    of that registry, or SKIP_ID; empty for none. login: of the registry.
    """

    kind: str = ""
    schema: bytes = b""
    message: str = ""
    compression: str = ""
    registry: str = ""
    login: Settings = NO_LOGIN

    @property
    def has_address(self) -> bool:
        """Whether schemas are fetched from a registry."""
        return self.registry not in ("", SKIP_ID)


class KindDecoder:
    """A decoder of payloads of one kind. type: of the decoded values."""

    type: "pa.DataType"

    def decode(self, data: bytes) -> Any:
        """Return the value of a payload for Arrow. Raises ValueError when it cannot be decoded."""
        raise NotImplementedError

    def decode_all(self, payloads: "pa.Array") -> "pa.Array | None":
        """Return the values of all payloads without running Python for each; None when that is not
        possible."""
        return None


def check_kinds(kind: str, kind_of_compression: str) -> None:
    """Raise BadInput for an unknown kind of decoding or of compression; both may be empty."""
    if kind and kind not in KINDS:
        raise BadInput(f"decode {kind!r} is not one of {', '.join(KINDS)}")
    compressions = (*compression.KINDS, compression.AUTO)
    if kind_of_compression and kind_of_compression not in compressions:
        raise BadInput(f"decompress {kind_of_compression!r} is not one of {', '.join(compressions)}")


def parse_registry(text: str) -> str:
    """Return a registry as Decoding has it. text: its address, true or false. Raises BadInput."""
    if text.lower() in ("", "false"):
        return ""
    return SKIP_ID if text.lower() == SKIP_ID else parse_url(text)
