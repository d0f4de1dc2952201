"""Operators, accounts and users signed for tests: what a server in operator mode needs."""

import base64
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import nkeys

UNLIMITED = {
    "subs": -1,
    "data": -1,
    "payload": -1,
    "imports": -1,
    "exports": -1,
    "wildcards": True,
    "conn": -1,
    "leaf": -1,
    "disk_storage": -1,
    "mem_storage": -1,
    "streams": -1,
    "consumer": -1,
}


class Key(NamedTuple):
    """A key pair as text."""

    public: str
    seed: str


def new_key(prefix: int) -> Key:
    """Create a key pair; `prefix` is one of nkeys.PREFIX_BYTE_*."""
    seed = nkeys.encode_seed(os.urandom(32), prefix)
    pair = nkeys.from_seed(bytearray(seed))
    return Key(pair.public_key.decode(), bytes(seed).decode())


def sign(claims: dict[str, Any], subject: str, name: str, signer: Key, expires: int = 0) -> str:
    """Return a JWT as nats-server reads it (ed25519-nkey). expires: seconds since 1970, 0 for never."""
    body = {"iat": int(time.time()), "iss": signer.public, "name": name, "sub": subject, "nats": claims}
    if expires:
        body["exp"] = expires
    body["jti"] = base64.b32encode(hashlib.sha256(json.dumps(body).encode()).digest()).decode().rstrip("=")
    head = {"typ": "JWT", "alg": "ed25519-nkey"}
    signed = ".".join(_encode(json.dumps(part).encode()) for part in (head, body))
    pair = nkeys.from_seed(bytearray(signer.seed.encode()))
    return f"{signed}.{_encode(pair.sign(signed.encode()))}"


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Operator:
    """An operator with a system account and one account with JetStream."""

    def __init__(self) -> None:
        self.key = new_key(nkeys.PREFIX_BYTE_OPERATOR)
        self.system = new_key(nkeys.PREFIX_BYTE_ACCOUNT)
        self.account = new_key(nkeys.PREFIX_BYTE_ACCOUNT)

    def config(self) -> str:
        """Return a server configuration with these accounts preloaded, with the placeholders `{port}` and
        `{store}`."""
        operator = sign(
            {"type": "operator", "version": 2, "system_account": self.system.public},
            self.key.public,
            "OP",
            self.key,
        )
        accounts = "\n".join(
            f"  {key.public}: {self._account(key, name)}"
            for key, name in ((self.system, "SYS"), (self.account, "ACC"))
        )
        return f"""
listen: "127.0.0.1:{{port}}"
jetstream {{ store_dir: "{{store}}" }}
operator: {operator}
system_account: {self.system.public}
resolver: MEMORY
resolver_preload: {{
{accounts}
}}
"""

    def user(self, *, bearer: bool = False, lifetime: int = 0) -> tuple[str, Key]:
        """Create a user of the account; return its JWT and key. lifetime: seconds, negative for one that has
        expired, 0 without an end."""
        key = new_key(nkeys.PREFIX_BYTE_USER)
        claims = {
            "type": "user",
            "version": 2,
            "subs": -1,
            "data": -1,
            "payload": -1,
            "bearer_token": bearer,
            "pub": {},
            "sub": {},
        }
        expires = int(time.time()) + lifetime if lifetime else 0
        return sign(claims, key.public, "user", self.account, expires), key

    def _account(self, key: Key, name: str) -> str:
        # The system account may have no JetStream.
        limits = {k: v for k, v in UNLIMITED.items() if key is self.account or "storage" not in k}
        claims = {
            "type": "account",
            "version": 2,
            "limits": limits,
            "default_permissions": {"pub": {}, "sub": {}},
        }
        return sign(claims, key.public, name, self.key)


def write_creds(path: Path, jwt: str, seed: str) -> Path:
    """Write a credentials file as nsc does."""
    path.write_text(
        f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
        "************************* IMPORTANT *************************\n"
        "NKEY Seed printed below can be used to sign and prove identity.\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    )
    return path
