"""nkeys' `from_seed` where its C library is not installed, as on the executors of a Spark cluster: ed25519
(RFC 8032) in plain Python. A signature takes some milliseconds, and not always the same time.
"""

import base64
import binascii
import hashlib
from typing import NamedTuple

_P = 2**255 - 19  #: the field
_ORDER = 2**252 + 27742317777372353535851937790883648493  #: of the base point
_D = -121665 * pow(121666, -1, _P) % _P  #: the curve's constant

_USER, _SEED = 20 << 3, 18 << 3  #: nkeys' prefixes: U, and S before what it is a seed of


class _Point(NamedTuple):
    """Extended coordinates: x = X/Z, y = Y/Z, xy = T/Z."""

    x: int
    y: int
    z: int
    t: int


class KeyPair:
    """A user's keys."""

    def __init__(self, seed: bytes) -> None:
        digest = hashlib.sha512(seed).digest()
        low = int.from_bytes(digest[:32], "little")
        self._scalar = low & (1 << 254) - 8 | 1 << 254
        self._prefix = digest[32:]
        self._public = _packed(_times(self._scalar, _base()))

    @property
    def public_key(self) -> bytes:
        """As text: U..."""
        raw = bytes([_USER]) + self._public
        return base64.b32encode(raw + _checksum(raw)).rstrip(b"=")

    def sign(self, message: bytes) -> bytes:
        """The signature, 64 bytes."""
        nonce = _hash(self._prefix, message) % _ORDER
        first = _packed(_times(nonce, _base()))
        challenge = _hash(first, self._public, message)
        second = (nonce + challenge * self._scalar) % _ORDER
        return first + second.to_bytes(32, "little")


def from_seed(seed: bytearray) -> KeyPair:
    """The keys of a user's seed (SU...). Raises ValueError for anything else."""
    try:
        raw = base64.b32decode(bytes(seed) + b"=" * (-len(seed) % 8))
    except binascii.Error:
        raise ValueError("no base32") from None
    if len(raw) != 36 or _checksum(raw[:-2]) != raw[-2:]:
        raise ValueError("no seed")
    if raw[0] & 0xF8 != _SEED or (raw[0] & 7) << 5 | raw[1] >> 3 != _USER:
        raise ValueError("no seed of a user")
    return KeyPair(raw[2:-2])


def _checksum(data: bytes) -> bytes:
    """CRC-16/XMODEM, low byte first."""
    return binascii.crc_hqx(data, 0).to_bytes(2, "little")


def _hash(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def _base() -> _Point:
    y = 4 * pow(5, -1, _P) % _P
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if x & 1:
        x = _P - x
    return _Point(x, y, 1, x * y % _P)


def _plus(one: _Point, other: _Point) -> _Point:
    a = (one.y - one.x) * (other.y - other.x) % _P
    b = (one.y + one.x) * (other.y + other.x) % _P
    c = 2 * one.t * other.t * _D % _P
    d = 2 * one.z * other.z % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return _Point(e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _times(factor: int, point: _Point) -> _Point:
    found = _Point(0, 1, 1, 0)
    while factor:
        if factor & 1:
            found = _plus(found, point)
        point = _plus(point, point)
        factor >>= 1
    return found


def _packed(point: _Point) -> bytes:
    inverse = pow(point.z, -1, _P)
    x, y = point.x * inverse % _P, point.y * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")
