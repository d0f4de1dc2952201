"""Payloads of any format as JSON values, for people, conditions and scripts (`--decode`)."""

from collections.abc import Callable, Sequence
from typing import Any

from jsctl.base.json_text import check_depth, parse_json, to_json_value
from jsctl.errors import BadInput, MissingDependency
from jsctl.jetstream.message.payload import as_text
from jsctl.schema.payloads import compression
from jsctl.schema.remote.definitions import INSTALL_HINT
from jsctl.schema.remote.registry import SchemaRegistry

AUTO = "auto"
FORMATS = ("json", "protobuf", "avro", "msgpack", "cbor")
KINDS = (*FORMATS, *compression.KINDS, AUTO)
_MAX_BITS = 14_000  #: of numbers; Python writes none of more than 4,300 digits
_WITH_SCHEMA = ("protobuf", "avro")


class PayloadDecoder:
    """A decoder of payloads.

    kinds: of compression, the outermost first, and at last of a format, or AUTO. schema: of Avro, as JSON, or
    of Protobuf, as `protoc --include_imports --descriptor_set_out` writes it. message: the Protobuf message.
    registry: the schemas with whose ids payloads begin, in place of `schema`.

    AUTO decompresses what begins as gzip, zstd or S2 do; then, a payload that begins with an id of the
    registry is of that schema, one that is JSON is JSON, other text is text, and the rest is MessagePack or
    CBOR, whichever reads it to its end as a map or a list.

    Raises BadInput, MissingDependency.
    """

    def __init__(
        self,
        kinds: Sequence[str],
        schema: bytes = b"",
        message: str = "",
        registry: SchemaRegistry | None = None,
    ) -> None:
        format = kinds[-1] if kinds[-1] not in compression.KINDS else ""
        self.kinds = kinds
        self._compressions = kinds[:-1] if format else kinds
        if wrong := next((kind for kind in self._compressions if kind not in compression.KINDS), ""):
            raise BadInput(f"--decode {wrong} must be the last", "compressions come first, such as gzip,json")
        if schema and format not in _WITH_SCHEMA:
            raise BadInput("--schema-file needs --decode avro or --decode protobuf")
        if message and format != "protobuf":
            raise BadInput("--message needs --decode protobuf")
        if registry and format in ("", "msgpack", "cbor"):
            raise BadInput(f"a schema registry has no schemas for --decode {','.join(kinds)}")
        if registry and schema:
            raise BadInput("--schema-file and --registry cannot be used together")
        self.can_wait = registry is not None
        """Whether decoding may wait for a registry."""
        self._registered: Callable[[bytes], Any] | None = None
        if registry is not None:
            from jsctl.schema.payloads.registered import RegistryReader

            self._registered = RegistryReader(registry, format if format in _WITH_SCHEMA else "").decode
        self._read = self._build(format, schema, message)

    def decode(self, data: bytes) -> Any:
        """Return a payload as JSON has it; bytes if it was only decompressed, or is
        text of no other format.

        Raises ValueError for one that cannot be decoded, and what `SchemaRegistry.fetch` raises.
        """
        for kind in self._compressions:
            data = compression.decompress(data, kind)
        return self._read(data)

    def _build(self, format: str, schema: bytes, message: str) -> Callable[[bytes], Any]:
        if format == AUTO:
            return self._detect
        if self._registered is not None:
            return self._read_registered
        match format:
            case "json":
                return _parse_object
            case "msgpack":
                return _build_msgpack()
            case "cbor":
                return _build_cbor()
            case "":
                return bytes
        if not schema:
            raise BadInput(
                f"--decode {format} needs a schema", "specify --schema-file FILE or --registry URL"
            )
        if format == "avro":
            from jsctl.schema.payloads.avro import AvroReader

            decode = AvroReader(schema.decode(errors="replace")).decode
        else:
            from jsctl.schema.payloads.protobuf import ProtobufReader

            decode = ProtobufReader(schema, message).decode
        return lambda data: _to_value(decode(data))

    def _read_registered(self, data: bytes) -> Any:
        if self._registered is None:
            raise ValueError("it does not begin with the id of a schema")
        value = self._registered(data)
        return _parse_object(value) if isinstance(value, bytes) else _to_value(value)

    def _detect(self, data: bytes) -> Any:
        data = compression.decompress(data, compression.AUTO)
        if self._registered is not None and data[:1] == b"\0":
            return self._read_registered(data)
        try:
            return _parse_object(data)
        except ValueError:
            if as_text(data) is not None:
                return data
        reasons = []
        for name, build in (("msgpack", _build_msgpack), ("cbor", _build_cbor)):
            try:
                value = build()(data)
            except MissingDependency as error:
                reasons.append(f"{error.message}, {error.hint}")
            except ValueError as error:
                reasons.append(f"{name}: {error}")
            else:
                if isinstance(value, dict | list):
                    return value
        raise ValueError("; ".join(reasons) or "it is of no format that can be detected")


def _to_value(value: Any) -> Any:
    """Return a value as JSON has it; a decimal is a number if a double has all of its digits, or else text.

    Raises ValueError for a number of thousands of digits, and for what is nested too deeply.
    """
    value = to_json_value(value)
    check_depth(value)
    return _replace_decimals(value)


def _replace_decimals(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replace_decimals(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_decimals(item) for item in value]
    if hasattr(value, "as_tuple"):
        number = float(value)
        return number if value == type(value)(repr(number)) else str(value)
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise ValueError("it has a number of thousands of digits")
    return value


def _parse_object(data: bytes) -> Any:
    if not data:
        raise ValueError("it is empty")
    try:
        return parse_json(data)
    except UnicodeDecodeError:
        raise ValueError("it is not JSON: it is not text") from None
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from None


def _build_msgpack() -> Callable[[bytes], Any]:
    try:
        import msgpack
    except ImportError:
        raise MissingDependency("msgpack is not installed", INSTALL_HINT) from None
    return _guard("MessagePack", lambda data: msgpack.unpackb(data, timestamp=3, strict_map_key=False))


def _build_cbor() -> Callable[[bytes], Any]:
    try:
        import cbor2
    except ImportError:
        raise MissingDependency("cbor2 is not installed", INSTALL_HINT) from None
    import io

    def read(data: bytes) -> Any:
        stream = io.BytesIO(data)
        value = cbor2.load(stream)  # cbor2.loads reads no further than the first value
        if stream.tell() != len(data):
            raise ValueError("it has more bytes after the value")
        return value

    return _guard("CBOR", read)


def _guard(name: str, read: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """Return a reader of JSON values that raises ValueError alone: libraries raise many kinds of errors for
    wrong bytes."""

    def decode(data: bytes) -> Any:
        try:
            if not data:
                raise ValueError("it is empty")
            return _to_value(read(data))
        except Exception as error:
            reason = str(error) or type(error).__name__
            raise ValueError(f"it is not {name}: {reason}") from None

    return decode
