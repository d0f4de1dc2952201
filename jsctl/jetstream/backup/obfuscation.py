"""Obfuscation of a backup: names and subjects become keyed hashes, which a key file turns back.

A token's hash is HMAC-SHA-256 under a secret, in lower-case base 32 (extended hex), as long as the token, but
at least 16 characters. The key file, its map and the hashes are those of the `nats` tool (jsm.go:
backup/obfuscate.go).
"""

import base64
import hmac
import json
import os
from collections.abc import Iterable
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any

from jsctl.base.files import read_bytes
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Json
from jsctl.nats.headers import VERSION, parse_headers

_VERSION = 1
_SECRET_SIZE = 32
_MIN_TOKEN = 16
_MAX_KEY_FILE = 1 << 30
_BUCKETS = ("KV_", "OBJ_")
"""Prefixes of the names of streams that stay."""
_STAYING_TOKENS = frozenset({"*", ">", "$KV", "$O"})
_STAYING_HEADERS = frozenset(
    name.lower()
    for name in (
        *("KV-Operation", "Nats-Marker-Reason", "Nats-TTL", "Nats-Rollup", "Nats-Incr"),
        *(
            "Nats-Expected-Last-Subject-Sequence",
            "Nats-Schedule",
            "Nats-Schedule-TTL",
            "Nats-Schedule-Time-Zone",
        ),
    )
)
_SUBJECT_HEADERS = frozenset(
    name.lower()
    for name in (
        *("Nats-Expected-Last-Subject-Sequence-Subject", "Nats-Schedule-Target", "Nats-Schedule-Source"),
    )
)
_BYTES = "surrogateescape"
_by_name = itemgetter(0)


class Obfuscator:
    """Hashes under one secret, and what they stand for."""

    def __init__(self, secret: bytes | None = None, originals: dict[str, str] | None = None) -> None:
        """Use a secret, by default a new one. originals: token by hash."""
        self._secret = secret or os.urandom(_SECRET_SIZE)
        self._originals = originals or {}
        self._hashes = {original: hashed for hashed, original in self._originals.items()}
        self.hash_message_subject = lru_cache(1 << 16)(self._hash_message_subject)

    @property
    def tokens(self) -> int:
        """Number of tokens that have a hash."""
        return len(self._originals)

    def hash_token(self, token: str) -> str:
        """Return the hash of a token, and remember it. Raises JsctlError if another token has the same."""
        if not token or token in self._hashes:
            return self._hashes.get(token, token)
        hashed = self._compute(token)
        if self._originals.setdefault(hashed, token) != token:
            raise JsctlError(f"two tokens have the hash {hashed}", "use another key file")
        self._hashes[token] = hashed
        return hashed

    def hash_subject(self, subject: str, *, has_functions: bool = False) -> str:
        """Return a subject with each token hashed; wildcards, $KV and $O stay. has_functions: so do
        `{{...}}`, in the destinations of transforms."""
        if not subject:
            return subject
        return ".".join(
            token
            if token in _STAYING_TOKENS or (has_functions and token.startswith("{{") and token.endswith("}}"))
            else self.hash_token(token)
            for token in subject.split(".")
        )

    def hash_headers(self, block: bytes) -> bytes:
        """Return a header block with values hashed, in the order of names. Headers that a server acts on
        stay, and in those with a subject each token is hashed."""
        if not (headers := parse_headers(block) if block else []):
            return b""
        lines = (
            f"{name}: {self._hash_header(name.lower(), value)}\r\n"
            for name, value in sorted(headers, key=_by_name)
        )
        return VERSION + b"\r\n" + "".join(lines).encode(errors=_BYTES) + b"\r\n"

    def hash_stream_name(self, name: str) -> str:
        """Return the name of a stream hashed; that of a bucket behind its prefix."""
        prefix = next((prefix for prefix in _BUCKETS if name.startswith(prefix) and name != prefix), "")
        return prefix + self.hash_token(name.removeprefix(prefix))

    def hash_config(self, config: Json) -> Json:
        """Return a stream's configuration with names and subjects hashed, without what describes it."""
        hashed = {
            key: value for key, value in config.items() if key not in ("description", "metadata", "placement")
        }
        hashed["name"] = self.hash_stream_name(str(config["name"]))
        if subjects := config.get("subjects"):
            hashed["subjects"] = list(map(self.hash_subject, subjects))
        if mirror := config.get("mirror"):
            hashed["mirror"] = self._hash_source(mirror)
        if sources := config.get("sources"):
            hashed["sources"] = list(map(self._hash_source, sources))
        if transform := config.get("subject_transform"):
            hashed["subject_transform"] = self._hash_transform(transform)
        if republish := config.get("republish"):
            hashed["republish"] = self._hash_transform(republish)
        return hashed

    def hash_consumer(self, content: Json) -> Json:
        """Return a consumer's configuration and state with names and subjects hashed."""
        config = {
            key: value for key, value in content["config"].items() if key not in ("description", "metadata")
        }
        hashed = _replace(config, ("durable_name", "name", "deliver_group"), self.hash_token)
        hashed = _replace(hashed, ("filter_subject", "deliver_subject"), self.hash_subject)
        for key, function in (("filter_subjects", self.hash_subject), ("priority_groups", self.hash_token)):
            if values := hashed.get(key):
                hashed[key] = list(map(function, values))
        return {**content, "config": hashed}

    def reveal(self, value: str) -> str:
        """Return what a hashed name or subject stands for; tokens without an entry stay."""

        def find(token: str) -> str:
            prefix = next(
                (p for p in _BUCKETS if token.startswith(p) and token[len(p) :] in self._originals), ""
            )
            return prefix + self._originals.get(token.removeprefix(prefix), token.removeprefix(prefix))

        return ".".join(map(find, value.split(".")))

    def encode_key_file(self) -> bytes:
        """Return the key file: the secret, and the token of each hash. Tokens that are not UTF-8 are not in
        it."""
        known = {hashed: token for hashed, token in sorted(self._originals.items()) if _is_text(token)}
        secret = base64.b64encode(self._secret).decode()
        content = {"version": _VERSION, "secret": secret, "map": known}
        return json.dumps(content, indent=2, ensure_ascii=False).encode()

    def _hash_message_subject(self, subject: bytes) -> bytes:
        return self.hash_subject(subject.decode(errors=_BYTES)).encode()

    def _hash_header(self, name: str, value: str) -> str:
        if name in _STAYING_HEADERS:
            return value
        return self.hash_subject(value) if name in _SUBJECT_HEADERS else self.hash_token(value)

    def _hash_source(self, source: Json) -> Json:
        hashed = {**source, "name": self.hash_stream_name(str(source.get("name", "")))}
        hashed = _replace(hashed, ("filter_subject",), self.hash_subject)
        if transforms := source.get("subject_transforms"):
            hashed["subject_transforms"] = list(map(self._hash_transform, transforms))
        if external := source.get("external"):
            hashed["external"] = _replace(external, ("api", "deliver"), self.hash_subject)
        if consumer := source.get("consumer"):
            named = _replace(consumer, ("name",), self.hash_token)
            hashed["consumer"] = _replace(named, ("deliver_subject",), self.hash_subject)
        return hashed

    def _hash_transform(self, transform: Json) -> Json:
        destination = self.hash_subject(str(transform.get("dest") or ""), has_functions=True)
        hashed = _replace(transform, ("src",), self.hash_subject)
        return {**hashed, "dest": destination} if "dest" in transform else hashed

    def _compute(self, token: str) -> str:
        raw = token.encode(errors=_BYTES)
        length = max(_MIN_TOKEN, len(raw))
        needed = -(-length * 5 // 8)
        block = hashed = hmac.digest(self._secret, raw, "sha256")
        number = 0
        while len(hashed) < needed:
            number += 1
            block = hmac.digest(self._secret, block + raw + number.to_bytes(4, "big"), "sha256")
            hashed += block
        return base64.b32hexencode(hashed[:needed]).decode().lower()[:length]

    def check(self, path: Path) -> None:
        """Raise BadInput if a token's hash is not that of the secret. path: of the key file."""
        for hashed, token in self._originals.items():
            if self._compute(token) != hashed:
                raise BadInput(
                    f"the entry {hashed} in {path} does not fit the secret", "use another key file"
                )


def read_key_file(path: Path) -> Obfuscator:
    """Read the key file of an edit. Raises BadInput."""
    try:
        content: Any = parse_json(read_bytes(path, "key file", _MAX_KEY_FILE))
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise BadInput(f"{path} is not a key file")
    if content.get("version") != _VERSION:
        raise BadInput(f"{path} is not a key file of version {_VERSION}", "upgrade jsctl if it is newer")
    try:
        secret = base64.b64decode(str(content.get("secret")), validate=True)
    except ValueError:
        secret = b""
    if len(secret) != _SECRET_SIZE:
        raise BadInput(f"the secret in {path} is not valid", "use another key file")
    originals = content.get("map") or {}
    if not isinstance(originals, dict) or not all(isinstance(token, str) for token in originals.values()):
        raise BadInput(f"the map in {path} is not valid", "use another key file")
    obfuscator = Obfuscator(secret, originals)
    obfuscator.check(path)
    return obfuscator


def _replace(content: Json, keys: Iterable[str], function: Any) -> Json:
    """Return an object with the texts of these keys replaced, where they have one."""
    return content | {key: function(str(content[key])) for key in keys if content.get(key)}


def _is_text(token: str) -> bool:
    try:
        token.encode()
    except UnicodeEncodeError:
        return False
    return True
