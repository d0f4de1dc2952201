"""Key pairs (nkeys), whose first letters show their kind (nats-io/nkeys: strkey.go, xkeys.go)."""

import base64
import binascii
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jsctl.base.command_lines import build_line
from jsctl.errors import BadInput

if TYPE_CHECKING:
    from nacl.public import Box

OPERATOR = "operator"
ACCOUNT = "account"
USER = "user"
SERVER = "server"
CLUSTER = "cluster"
CURVE = "curve"

KINDS = (USER, ACCOUNT, SERVER, CLUSTER, OPERATOR, CURVE)

_PREFIXES: Mapping[str, int] = {
    OPERATOR: 14 << 3,
    ACCOUNT: 0,
    USER: 20 << 3,
    SERVER: 13 << 3,
    CLUSTER: 2 << 3,
    CURVE: 23 << 3,
}
_SEED = 18 << 3
_RAW_SIZE = 32  #: bytes of a seed and of a public key
_BOX_VERSION = b"xkv1"
_NONCE_SIZE = 24


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A key pair as text: `A...` and `SA...` for an account, `O` for operators, `U` for users."""

    public: str
    seed: str = field(repr=False)

    @property
    def kind(self) -> str:
        """One of KINDS."""
        return find_key_kind(self.public)

    def sign(self, data: bytes) -> bytes:
        """Return the ed25519 signature of `data`, 64 bytes. Raises BadInput for a curve key."""
        from nacl.signing import SigningKey

        if self.kind == CURVE:
            raise BadInput("a curve key cannot sign", "use a key of an operator, account, user or server")
        return bytes(SigningKey(_decode_seed(self.seed)[1]).sign(data).signature)

    def seal(self, data: bytes, recipient: str) -> bytes:
        """Encrypt for the owner of a public curve key. Raises BadInput."""
        from nacl.utils import random

        nonce = random(_NONCE_SIZE)
        return _BOX_VERSION + nonce + bytes(self._open_box(recipient).encrypt(data, nonce).ciphertext)

    def unseal(self, sealed: bytes, sender: str) -> bytes:
        """Decrypt what the owner of a public curve key sealed for this key. Raises BadInput."""
        from nacl.exceptions import CryptoError

        if not sealed.startswith(_BOX_VERSION) or len(sealed) <= len(_BOX_VERSION) + _NONCE_SIZE:
            raise BadInput(
                "this was not sealed with a curve key", f"seal it with {build_line('auth nkey seal')}"
            )
        body = sealed[len(_BOX_VERSION) :]
        try:
            return bytes(self._open_box(sender).decrypt(body[_NONCE_SIZE:], body[:_NONCE_SIZE]))
        except CryptoError:
            raise BadInput(
                "this cannot be decrypted with these keys", "check the key and the sender's public key"
            ) from None

    def _open_box(self, other: str) -> "Box":
        from nacl.public import Box, PrivateKey, PublicKey

        if self.kind != CURVE:
            raise BadInput(
                "only curve keys can encrypt", f"create one with {build_line('auth nkey gen curve')}"
            )
        if not is_public_key(other, CURVE):
            raise BadInput(f"{other!r} is not a public curve key", "such keys start with X")
        return Box(PrivateKey(_decode_seed(self.seed)[1]), PublicKey(_decode(other)[1:]))


def create_key(kind: str, random: Callable[[int], bytes] = os.urandom) -> KeyPair:
    """Create a key pair. kind: one of KINDS. random: a function that returns N random bytes."""
    prefix = _PREFIXES[kind]
    raw = bytes([_SEED | prefix >> 5, (31 & prefix) << 3]) + random(_RAW_SIZE)
    return parse_seed(_encode(raw))


def parse_seed(seed: str) -> KeyPair:
    """Return the key pair of a seed. Raises BadInput, without quoting the seed."""
    seed = seed.strip()
    try:
        prefix, raw = _decode_seed(seed)
    except ValueError:
        raise BadInput(
            "this is not a valid seed", "seeds start with SO (operator), SA (account) or SU (user)"
        ) from None
    if prefix == _PREFIXES[CURVE]:
        from nacl.public import PrivateKey

        public = bytes(PrivateKey(raw).public_key)
    else:
        from nacl.signing import SigningKey

        public = bytes(SigningKey(raw).verify_key)
    return KeyPair(_encode(bytes([prefix]) + public), seed)


def find_key_kind(public: str) -> str:
    """Return the kind of a public key, one of KINDS; empty when the key is not valid."""
    try:
        raw = _decode(public)
    except ValueError:
        return ""
    if len(raw) != _RAW_SIZE + 1:
        return ""
    return next((kind for kind, prefix in _PREFIXES.items() if prefix == raw[0]), "")


def is_public_key(text: str, kind: str = "") -> bool:
    """Return whether a text is a public key. kind: one of KINDS; empty for any."""
    actual = find_key_kind(text)
    return bool(actual) and kind in ("", actual)


def is_seed(text: str) -> bool:
    """Return whether a text is a seed."""
    try:
        _decode_seed(text)
    except ValueError:
        return False
    return True


def verify_signature(public: str, data: bytes, signature: bytes) -> bool:
    """Return whether the owner of a public key signed `data`."""
    from nacl.exceptions import BadSignatureError
    from nacl.signing import VerifyKey

    if find_key_kind(public) in ("", CURVE):
        return False
    try:
        VerifyKey(_decode(public)[1:]).verify(data, signature)
    except (BadSignatureError, ValueError):
        return False
    return True


def find_key_text(text: str) -> str:
    """Return the first line of a key file that is a seed or a public key; empty when there is none. Decorated
    files have other lines, too."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if is_seed(line) or is_public_key(line)), "")


def _encode(raw: bytes) -> str:
    return base64.b32encode(raw + _compute_checksum(raw)).decode().rstrip("=")


def _compute_checksum(raw: bytes) -> bytes:
    return binascii.crc_hqx(raw, 0).to_bytes(2, "little")  # nkeys: crc16.go


def _decode(text: str) -> bytes:
    """Return the bytes of a key without their checksum. Raises ValueError."""
    try:
        raw = base64.b32decode(text + "=" * (-len(text) % 8))
    except binascii.Error:
        raise ValueError("not base32") from None
    if len(raw) < _RAW_SIZE or _compute_checksum(raw[:-2]) != raw[-2:]:
        raise ValueError("wrong checksum")
    return raw[:-2]


def _decode_seed(seed: str) -> tuple[int, bytes]:
    """Return the prefix of a seed's public key, and its 32 bytes. Raises ValueError."""
    raw = _decode(seed)
    if len(raw) != _RAW_SIZE + 2 or raw[0] & 0xF8 != _SEED:
        raise ValueError("not a seed")
    prefix = (raw[0] & 7) << 5 | raw[1] >> 3
    if prefix not in _PREFIXES.values():
        raise ValueError("unknown prefix")
    return prefix, raw[2:]
