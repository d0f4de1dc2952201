"""A context: how to reach a NATS network, in the `nats` tool's own JSON keys (jsm.go natscontext)."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

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

FILES = ("creds", "nkey", "cert", "key", "ca")
"""Keys that hold the path of a file."""

COLOR_SCHEMES = ("rounded", "double", "yellow", "blue", "cyan", "green", "magenta", "red")
"""Values of `--colors` and of `color_scheme`, as in the `nats` tool."""

HIDDEN = "********"

# A key of another tool's whose name says that it holds a secret.
_SECRET_NAME = r"(?i)pass|secret|token|seed|private|jwt"


class Context(NamedTuple):
    """`raw` is the file's JSON as it is: keys that jsctl does not know survive."""

    name: str
    raw: Mapping[str, Any] = MappingProxyType({})
    path: str = ""  #: the file it came from

    def __repr__(self) -> str:
        return f"Context({self.name!r})"  # raw holds secrets

    def get(self, key: str) -> Any:
        """The value of a key, or its empty value."""
        return self.raw.get(key) or KEYS.get(key)

    def document(self, *, show_secrets: bool = False) -> dict[str, Any]:
        """Every key with its value, in the `nats` tool's order, unknown ones last; secrets as stars."""
        full = {**KEYS, **self.raw}
        return full if show_secrets else {key: _hidden(key, value) for key, value in full.items()}


def public_url(url: str, mask: str = "") -> str:
    """A URL, or several with commas, without user and password; `mask` stands in their place."""
    return ",".join(_without_login(part.strip(), mask) for part in url.split(","))


def _without_login(url: str, mask: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    login, at, host = rest.rpartition("@")
    name, _, port = host.rpartition(":")
    if name and not port.rstrip("/").isdigit() and not host.endswith("]"):
        # No port: the tail of a password that held a comma, or a typing mistake. Not to be shown.
        host = name
    if not at or not mask:
        return f"{scheme}{separator}{host}"
    user, colon, _ = login.partition(":")
    return f"{scheme}{separator}{user + colon if colon else ''}{mask}@{host}"


def _hidden(key: str, value: Any) -> Any:
    if not value:
        return value
    if key in SECRETS or (key not in KEYS and re.search(_SECRET_NAME, key)):
        return HIDDEN
    if key in ("url", "socks_proxy") and isinstance(value, str) and "@" in value:
        return public_url(value, HIDDEN)
    return value


def expand_path(path: str) -> Path:
    """A path of a context file: environment variables and `~` as the `nats` tool expands them."""
    return Path(os.path.expandvars(path)).expanduser()
