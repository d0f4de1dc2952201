"""Codecs of keys: what clients call a key, and what a bucket stores for it (ADR-54; orbit.go: kvcodec).

Nothing in a bucket says which codec its clients use. Keys are encoded where they are read from a command line
or a file, and decoded where they are shown; between these, all code has the keys as they are stored. Values
stay as they are.
"""

from typing import NamedTuple

BASE64, PATH = "base64", "path"
CODECS = (BASE64, PATH)
_ROOT = "_root_"  #: the first token of a path that begins with a slash
_WILDCARDS = ("*", ">")


class Codec(NamedTuple):
    """Codecs that are applied one after the other to encode a key, and in reverse to decode it."""

    names: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether keys are encoded at all."""
        return bool(self.names)

    @property
    def flags(self) -> list[str]:
        """The flags of a command line with this codec."""
        return ["--codec", ",".join(self.names)] if self.names else []

    def encode(self, key: str, *, is_pattern: bool = False) -> str:
        """Return the stored key; of a pattern, with its wildcards as they are. Raises ValueError for text
        that cannot be sent as UTF-8."""
        for name in self.names:
            key = _encode_path(key) if name == PATH else _encode_base64(key, _WILDCARDS if is_pattern else ())
        return key

    def decode(self, stored: str) -> str:
        """Return the key, or pattern, that is stored like this. Raises ValueError if none is."""
        key = stored
        for name in reversed(self.names):
            key = _decode_path(key) if name == PATH else _decode_base64(key)
        if stored not in (self.encode(key), self.encode(key, is_pattern=True)):
            raise ValueError(f"{stored!r} is not encoded like this")  # two stored keys would look the same
        return key

    def decode_known(self, stored: list[str]) -> list[str]:
        """Return the keys that can be decoded, for suggestions."""
        keys = []
        for key in stored:
            try:
                keys.append(self.decode(key))
            except ValueError:
                continue
        return keys


PLAIN = Codec()
"""No codec: keys are stored as they are."""


def parse_codec(text: str) -> Codec:
    """Parse the names of codecs, separated by commas. Raises ValueError."""
    names = tuple(text.split(","))
    wrong = [name for name in names if name not in CODECS]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is not one of {', '.join(CODECS)}")
    if PATH in names[1:]:
        raise ValueError("path must be the first: what other codecs make has no slashes")
    return Codec(names)


def _encode_base64(key: str, wildcards: tuple[str, ...]) -> str:
    from base64 import urlsafe_b64encode  # few buckets have such keys, and it takes 0.4 ms of a start

    tokens = (
        token if token in wildcards else urlsafe_b64encode(token.encode()).decode().rstrip("=")
        for token in key.split(".")
    )
    return ".".join(tokens)


def _decode_base64(key: str) -> str:
    from base64 import urlsafe_b64decode

    return ".".join(
        token if token in _WILDCARDS else urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
        for token in key.split(".")
    )


def _encode_path(key: str) -> str:
    if key == "/":
        return _ROOT
    rooted = f"{_ROOT}.{key[1:]}" if key.startswith("/") else key
    return rooted.removesuffix("/").replace("/", ".")


def _decode_path(key: str) -> str:
    if key == _ROOT:
        return "/"
    return key.removeprefix(_ROOT).replace(".", "/") if key.startswith(_ROOT + ".") else key.replace(".", "/")
