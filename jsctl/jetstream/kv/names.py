"""Names of buckets and keys, the subjects that they stand for, and patterns of keys (ADR-8).

A new name must be valid for every client. Existing keys may have been stored by any publisher: they can be
read and removed whatever their names.
"""

import re

from jsctl.errors import BadInput
from jsctl.jetstream.kv.codec import PLAIN, Codec
from jsctl.nats.subjects import is_sendable, is_subject, validate_existing_name

STREAM_PREFIX = "KV_"
_KEY = r"[-/_=.a-zA-Z0-9]+"
_WILDCARDS = ("*", ">")


def bucket_to_stream(bucket: str) -> str:
    """Return the stream that holds a bucket."""
    return STREAM_PREFIX + bucket


def stream_to_bucket(stream: str) -> str:
    """Return the bucket that a stream holds, or that an origin names with or without the stream's prefix."""
    return stream.removeprefix(STREAM_PREFIX)


def is_bucket(stream: str) -> bool:
    """Return whether a stream holds a bucket."""
    return stream.startswith(STREAM_PREFIX) and len(stream) > len(STREAM_PREFIX)


def build_subject_prefix(bucket: str) -> str:
    """Return the prefix of the subjects of a bucket's keys."""
    return f"$KV.{bucket}."


def validate_new_key(key: str, codec: Codec = PLAIN) -> str:
    """Return the stored form of a key if every client can read it. Raises BadInput."""
    stored = encode_key(key, codec)
    if not re.fullmatch(_KEY, stored) or not is_subject(stored):
        raise _invalid_error(key, stored, codec, "use letters, digits and -/_= in tokens separated by dots")
    return stored


def parse_existing_key(text: str, codec: Codec) -> str:
    """Return the stored form of an existing key. Without a codec, its control characters may be typed as they
    are, or as jsctl shows them.

    Raises BadInput.
    """
    key = encode_key(text, codec)
    if "\\" in text and not codec:
        key = ".".join(_unescape_token(token) for token in text.split("."))
    if not is_subject(key) or is_pattern(key) or not is_sendable(key):
        raise _invalid_error(text, key, codec, "use tokens separated by dots")
    return key


def parse_key_pattern(text: str, codec: Codec) -> str:
    """Return the stored form of a key, or of a pattern in which `*` stands for a token and `>` for the rest.
    Raises BadInput."""
    pattern = encode_key(text, codec, is_pattern=True)
    if not is_pattern(pattern):
        return parse_existing_key(text, codec)
    if not is_subject(pattern) or not is_sendable(pattern):
        raise BadInput(
            f"{text!r} is not a valid pattern of keys",
            "* stands for a whole token, > for the rest: 'user.*', 'user.>'",
        )
    return pattern


def is_pattern(key: str) -> bool:
    """Return whether a key has wildcards, and so stands for several keys."""
    return any(token in _WILDCARDS for token in key.split("."))


def encode_key(text: str, codec: Codec, *, is_pattern: bool = False) -> str:
    """Return the stored form of a key or pattern. Raises BadInput for text that cannot be sent as UTF-8."""
    try:
        return codec.encode(text, is_pattern=is_pattern)
    except ValueError:
        raise BadInput(f"{text!r} is not a valid key", "use UTF-8") from None


def _invalid_error(key: str, stored: str, codec: Codec, hint: str) -> BadInput:
    if not codec:
        return BadInput(f"{key!r} is not a valid key", hint)
    return BadInput(
        f"{key!r} is not a valid key for {' '.join(codec.flags)}", f"it would be stored as {stored!r}: {hint}"
    )


def _unescape_token(token: str) -> str:
    try:
        return validate_existing_name(token, "key")
    except ValueError:
        return token
