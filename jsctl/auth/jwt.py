"""JWTs of operators, accounts and users, version 2 (nats-io/jwt: v2/claims.go, v2/header.go).

Claims are plain JSON: unknown ones stay as they are.
"""

import base64
import binascii
import hashlib
import json
import time
from typing import Any

from jsctl.auth.keys import KeyPair, verify_signature
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput

Json = dict[str, Any]

_HEADER = {"typ": "JWT", "alg": "ed25519-nkey"}


def encode_jwt(claims: Json, signer: KeyPair) -> str:
    """Sign claims. `iat` (seconds), `iss` and `jti` are set here; `sub`, `name` and `nats` by the caller."""
    body = {key: value for key, value in claims.items() if key != "jti"}
    body.update(iat=int(time.time()), iss=signer.public)
    digest = hashlib.new("sha512_256", _to_json(body)).digest()
    body["jti"] = base64.b32encode(digest).decode().rstrip("=")
    signed = f"{_encode(_to_json(_HEADER))}.{_encode(_to_json(body))}"
    return f"{signed}.{_encode(signer.sign(signed.encode()))}"


def decode_jwt(token: str) -> Json:
    """Return the claims of a JWT; the signature is not checked. Raises BadInput."""
    parts = token.strip().split(".")
    try:
        if len(parts) != 3:
            raise ValueError
        claims = parse_json(_decode(parts[1]))
        if not isinstance(claims, dict) or not isinstance(claims.get("nats"), dict):
            raise ValueError
    except (ValueError, binascii.Error):
        raise BadInput("this is not a NATS JWT", "it must be three base64 parts separated by dots") from None
    return claims


def decode_header(token: str) -> Json:
    """Return the header of a JWT; empty when it has none that can be read."""
    try:
        header = parse_json(_decode(token.strip().partition(".")[0]))
    except (ValueError, binascii.Error):
        return {}
    return header if isinstance(header, dict) else {}


def is_signed(token: str, public: str, version: int) -> bool:
    """Return whether the owner of a public key signed a JWT. version: of its claims; the signature of an
    outdated one does not cover the header (nats-io/jwt: v2/decoder.go)."""
    signed, _, signature = token.strip().rpartition(".")
    if version <= 1:
        signed = signed.rpartition(".")[2]
    try:
        return verify_signature(public, signed.encode(), _decode(signature))
    except (ValueError, binascii.Error):
        return False


def _to_json(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
