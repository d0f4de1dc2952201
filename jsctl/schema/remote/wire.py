"""The wire format of clients of a schema registry: 0, the schema's id in 4 bytes, and the payload; for
Protobuf, the place of the message in its schema stands between them."""

from typing import NamedTuple


class WirePayload(NamedTuple):
    """A payload. id: of its schema. rest: what follows the id."""

    id: int
    rest: bytes


def parse_payload(data: bytes) -> WirePayload:
    """Return the parts of a payload. Raises ValueError when it does not begin with an id."""
    if len(data) < 5 or data[0]:
        raise ValueError("it does not begin with the id of a schema")
    return WirePayload(int.from_bytes(data[1:5]), data[5:])


def parse_message_place(rest: bytes) -> tuple[tuple[int, ...], bytes]:
    """Return the place of a Protobuf message in its schema, and the message.

    The place is the index of the message, and that of one within it for each further item. Raises ValueError.
    """
    count, at = _decode_zigzag(rest, 0)
    place = []
    for _ in range(count):
        index, at = _decode_zigzag(rest, at)
        place.append(index)
    return tuple(place) or (0,), rest[at:]


def _decode_zigzag(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 35:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
    raise ValueError("it is truncated")
