"""Public keys: of which kind they are, and whether they signed a JWT (nats-io/nkeys; nats-io/jwt:
v2/claims.go)."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import nkeys
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from jsctl.auth.keys import ACCOUNT, OPERATOR, USER
from jsctl.json_text import parse_json

CURVE = "curve"
"""A key for encryption, `X...`."""

SERVER = "server"

_KINDS: Mapping[int, str] = {
    nkeys.PREFIX_BYTE_OPERATOR: OPERATOR,
    nkeys.PREFIX_BYTE_ACCOUNT: ACCOUNT,
    nkeys.PREFIX_BYTE_USER: USER,
    nkeys.PREFIX_BYTE_SERVER: SERVER,
    23 << 3: CURVE,
}


def kind_of_key(public: str) -> str:
    """Return the kind of a public key: OPERATOR, ACCOUNT, USER, SERVER or CURVE; empty for anything else."""
    return _split(public)[0]


def is_signed(token: str, public: str) -> bool:
    """Return whether a JWT of version 2 was signed with the seed of a public key."""
    signed, _, signature = token.strip().rpartition(".")
    raw = _split(public)[1]
    if not raw:
        return False
    try:
        VerifyKey(raw).verify(signed.encode(), _decode(signature))
    except (BadSignatureError, ValueError, binascii.Error):
        return False
    return True


def header_of(token: str) -> dict[str, Any]:
    """Return the header of a JWT; empty when it has none that can be read."""
    try:
        header = parse_json(_decode(token.strip().partition(".")[0]))
    except (ValueError, binascii.Error):
        return {}
    return header if isinstance(header, dict) else {}


def _split(public: str) -> tuple[str, bytes]:
    """Split a public key into its kind and its 32 bytes; both empty where the checksum is wrong."""
    try:
        data = base64.b32decode(public + "=" * (-len(public) % 8))
    except (ValueError, binascii.Error):
        return "", b""
    if len(data) != 35 or int.from_bytes(data[33:], "little") != nkeys.crc16(data[:33]):
        return "", b""
    return _KINDS.get(data[0], ""), data[1:33]


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
