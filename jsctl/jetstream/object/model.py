"""The description of an object, and how a bucket stores it (ADR-20).

A bucket B is the stream OBJ_B. An object's bytes are messages on `$O.B.C.<nuid>`, in their order; one message
on `$O.B.M.<name in base64>` describes it. Every put has a nuid of its own.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.nats.message import Message

STREAM_PREFIX = "OBJ_"
CHUNK_SIZE = 128 << 10
"""Default size of a chunk in bytes."""
DIGEST_PREFIX = "SHA-256="
MAX_NAME = 1024
"""Maximum number of bytes of an object's name: its subject has to fit a line of the protocol."""


class Link(NamedTuple):
    """The target of a link. name: empty for the whole bucket."""

    bucket: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.bucket} > {self.name}" if self.name else self.bucket


class ObjectInfo(NamedTuple):
    """An object. digest: `SHA-256=...`, empty for a link or a deleted object. modified: RFC 3339. sequence:
    of the message that describes it. raw: that message's JSON. damage: what is wrong with it; nothing but the
    name is certain then."""

    bucket: str
    name: str
    nuid: str
    size: int
    chunks: int
    digest: str
    modified: str
    description: str = ""
    headers: Mapping[str, Sequence[str]] = {}
    metadata: Mapping[str, str] = {}
    link: Link | None = None
    chunk_size: int = CHUNK_SIZE
    is_deleted: bool = False
    sequence: int = 0
    raw: Mapping[str, Any] = {}
    damage: str = ""

    @property
    def data(self) -> Json:
        """Its JSON form: the stored description, with the time of the last change."""
        return {**self.raw, "mtime": self.modified}


def build_stream_name(bucket: str) -> str:
    """Return the stream of a bucket."""
    return STREAM_PREFIX + bucket


def build_chunk_subject(bucket: str, nuid: str) -> str:
    """Return the subject of an object's chunks; the filter for those of all objects for `>`."""
    return f"$O.{bucket}.C.{nuid}"


def build_info_subject(bucket: str, name: str) -> str:
    """Return the subject of the message that describes an object."""
    return f"$O.{bucket}.M.{base64.urlsafe_b64encode(name.encode()).decode()}"


def build_info_filter(bucket: str) -> str:
    """Return the filter for the messages that describe objects of a bucket."""
    return f"$O.{bucket}.M.>"


def validate_object_name(name: str) -> str:
    """Return a name if an object can have it. Raises BadInput."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise BadInput("the object's name is not valid UTF-8", "name it with --name") from None
    if not name:
        raise BadInput("the object's name is missing")
    if size > MAX_NAME:
        raise BadInput(f"the object's name has {size:,} bytes; at most {MAX_NAME:,} are possible")
    return name


def format_digest(digest: bytes) -> str:
    """Return a SHA-256 as buckets store it."""
    return DIGEST_PREFIX + base64.urlsafe_b64encode(digest).decode()


def parse_digest(text: str) -> bytes | None:
    """Return the bytes of a digest; None for one that is not SHA-256."""
    if text[: len(DIGEST_PREFIX)].upper() != DIGEST_PREFIX:
        return None
    encoded = text[len(DIGEST_PREFIX) :].rstrip("=")
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
    except (ValueError, binascii.Error):
        return None


def encode_info(info: ObjectInfo) -> bytes:
    """Return the message that describes an object, including unknown fields of the JSON that it came from."""
    options: Json = dict(info.raw.get("options") or {})
    if info.link is not None:
        options["link"] = {"bucket": info.link.bucket, **({"name": info.link.name} if info.link.name else {})}
    else:
        options.pop("link", None)
        if info.chunks:
            options["max_chunk_size"] = info.chunk_size
    record: Json = {
        **{key: value for key, value in info.raw.items() if key not in ("headers", "metadata", "deleted")},
        "name": info.name,
        **({"description": info.description} if info.description else {}),
        **(
            {"headers": {name: list(values) for name, values in info.headers.items()}} if info.headers else {}
        ),
        **({"metadata": dict(info.metadata)} if info.metadata else {}),
        "options": options,
        "bucket": info.bucket,
        "nuid": info.nuid,
        "size": info.size,
        "mtime": info.modified or "0001-01-01T00:00:00Z",
        "chunks": info.chunks,
        "digest": info.digest,
        **({"deleted": True} if info.is_deleted else {}),
    }
    if not options:
        del record["options"]
    return json.dumps(record, ensure_ascii=False).encode()


def decode_info(bucket: str, message: Message) -> ObjectInfo:
    """Return the object that a stored message describes; see `damage`."""
    record: Any = None
    try:
        record = parse_json(message.data)
        if not isinstance(record, dict):
            raise ValueError("it is not a JSON object")
        return _decode(bucket, record, message)
    except (ValueError, TypeError, AttributeError) as error:
        return _decode_damaged(bucket, record, message, str(error))


def _decode_damaged(bucket: str, record: Any, message: Message, reason: str) -> ObjectInfo:
    """Return what is known of an object whose description cannot be read."""
    key = message.subject.removeprefix(build_info_subject(bucket, ""))
    try:
        name = base64.urlsafe_b64decode(key).decode()
    except ValueError:
        name = key
    nuid = record.get("nuid") if isinstance(record, dict) else ""
    return ObjectInfo(
        bucket=bucket,
        name=name,
        nuid=nuid if isinstance(nuid, str) and _is_nuid(nuid) else "",
        size=0,
        chunks=0,
        digest="",
        modified=message.timestamp,
        sequence=message.sequence,
        raw={"name": name, "bucket": bucket, "damaged": reason},
        damage=f"the description of an object on {message.subject} is damaged: {reason}",
    )


def _is_nuid(text: str) -> bool:
    return not any(c.isspace() or c in ".*>" or c < " " for c in text)


def _decode(bucket: str, record: Json, message: Message) -> ObjectInfo:
    options = record.get("options") or {}
    link = options.get("link")
    name = _get_text(record, "name")
    if build_info_subject(bucket, name) != message.subject:
        raise ValueError("it is for another name")
    nuid = _get_text(record, "nuid")
    if not _is_nuid(nuid):
        raise ValueError("its nuid is not valid")
    return ObjectInfo(
        bucket=bucket,
        name=name,
        nuid=nuid,
        size=_get_number(record, "size"),
        chunks=_get_number(record, "chunks"),
        digest=_get_text(record, "digest"),
        modified=message.timestamp,
        description=_get_text(record, "description"),
        headers={str(k): [str(v) for v in values] for k, values in (record.get("headers") or {}).items()},
        metadata={str(k): str(v) for k, v in (record.get("metadata") or {}).items()},
        link=Link(_get_text(link, "bucket"), _get_text(link, "name")) if link else None,
        chunk_size=_get_number(options, "max_chunk_size") or CHUNK_SIZE,
        is_deleted=record.get("deleted") is True,
        sequence=message.sequence,
        raw=record,
    )


def _get_text(record: Json, key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{key} is not a text")
    return value


def _get_number(record: Json, key: str) -> int:
    value = record.get(key)
    if value is None:
        return 0
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(f"{key} is not a number")
    return value
