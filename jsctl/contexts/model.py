"""A context: how to reach a NATS network, in the `nats` tool's own JSON keys (jsm.go natscontext)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DEFAULT_URL = "nats://127.0.0.1:4222"

KEYS: dict[str, Any] = {
    "description": "",
    "url": "",
    "socks_proxy": "",
    "token": "",
    "user": "",
    "password": "",
    "creds": "",
    "nkey": "",
    "cert": "",
    "key": "",
    "ca": "",
    "nsc": "",
    "jetstream_domain": "",
    "jetstream_api_prefix": "",
    "jetstream_event_prefix": "",
    "inbox_prefix": "",
    "user_jwt": "",
    "user_seed": "",
    "color_scheme": "",
    "tls_first": False,
    "windows_cert_store": "",
    "windows_cert_match_by": "",
    "windows_cert_match": "",
    "windows_ca_certs_match": None,
}
"""The keys that the `nats` tool writes, in its order, with their empty values."""

SECRETS = frozenset({"token", "password", "user_jwt", "user_seed"})
"""Keys that are never shown unless asked for."""


@dataclass(frozen=True, slots=True)
class Context:
    """`raw` is the file's JSON as it is: keys that jsctl does not know survive."""

    name: str
    raw: Mapping[str, Any] = field(default_factory=dict)

    def get(self, key: str) -> Any:
        """The value of a key, or its empty value."""
        return self.raw.get(key) or KEYS.get(key)
