"""Key pairs of operators, accounts and users: nkeys, whose text says what kind they are."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import nkeys

from jsctl.errors import BadInput

OPERATOR = "operator"
ACCOUNT = "account"
USER = "user"

_PREFIX_BYTES: Mapping[str, int] = {
    OPERATOR: nkeys.PREFIX_BYTE_OPERATOR,
    ACCOUNT: nkeys.PREFIX_BYTE_ACCOUNT,
    USER: nkeys.PREFIX_BYTE_USER,
}


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A key pair as text: `A...` and `SA...` for an account, `O` for operators, `U` for users."""

    public: str
    seed: str = field(repr=False)

    def sign(self, data: bytes) -> bytes:
        """Return the ed25519 signature of `data`, 64 bytes."""
        signature: bytes = nkeys.from_seed(bytearray(self.seed.encode())).sign(data)
        return signature


def create_key(kind: str) -> KeyPair:
    """Create a key pair. kind: OPERATOR, ACCOUNT or USER."""
    seed = bytes(nkeys.encode_seed(os.urandom(32), _PREFIX_BYTES[kind])).decode()
    return key_of_seed(seed)


def key_of_seed(seed: str) -> KeyPair:
    """Return the key pair of a seed. Raises BadInput, which does not quote it."""
    try:
        pair = nkeys.from_seed(bytearray(seed.strip().encode()))
        return KeyPair(pair.public_key.decode(), seed.strip())
    except Exception:  # nkeys raises its own errors, binascii's and ValueErrors that quote the seed
        raise BadInput("this is not a valid seed", "seeds start with SO, SA or SU") from None
