"""A context: how to reach a NATS network, with the JSON keys of the `nats` tool (jsm.go natscontext)."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from jsctl.base.files import SEED
from jsctl.base.user_folders import expand_home
from jsctl.contexts import schemes
from jsctl.contexts.settings import CONTEXT_KEYS, FILE_KEYS, OWN_PREFIX, PATHS, SECRETS, Settings

KEYS: dict[str, Any] = {key: one.empty for key, one in FILE_KEYS.items() if not key.startswith(OWN_PREFIX)}
"""The keys that the `nats` tool writes, each with its empty value."""

_SECRET_KEYS = frozenset(CONTEXT_KEYS[name] for name in SECRETS)
"""Keys whose values are shown only on request."""

FILES = tuple(CONTEXT_KEYS[name] for name in PATHS)
"""Keys that hold the path of a file."""

COLOR_SCHEMES = ("rounded", "double", "yellow", "blue", "cyan", "green", "magenta", "red")
"""Values of `--colors` and of the key color_scheme, as in the `nats` tool."""

HIDDEN = "********"

# Names of unknown keys, and of a URL's parameters, that probably hold a secret.
_SECRET_NAME = r"(?i)pass|pwd|secret|token|seed|private|jwt|bearer|credential|(api|access|signing)[-_]?key"
_PARAMETER = r"([?&;])([^=&;#?\s]+)=([^&;#\s]+)"

# A seed (SU..., SA...), a JWT, a decorated key, and data in place of a path, under any key.
_SECRET_VALUE = rf"\b{SEED}\b|\beyJ[\w-]{{8,}}\.[\w-]+\.[\w-]*|-----BEGIN [^-]*(SEED|PRIVATE|JWT)|^data:"


_SERVER_SCHEMES = ("nats", "tls", "ws", "wss", "socks5", "socks5h", "sc", "spark")
_ADDRESS = r"""'[\w+.-]+://[^'\n]*'|"[\w+.-]+://[^"\n]*"|[\w+.-]+://(?:\S*@)?[^\s'"]*[^\s'".,:;)\]]"""
"""An address in a message, within quotes or without; a password may contain anything."""

_BETWEEN_ADDRESSES = r",\s*(?=[\w+.-]+://)"
"""What separates addresses; a comma before anything else may be part of a password."""

_BARE_LOGIN = r"""[^\s'":@/]+:[^\s'"@]+@(?=[\w\[])"""
"""The login in an address without a scheme: user:password@host."""


class Context(NamedTuple):
    """A named context. raw: the file's JSON, with keys that jsctl does not know."""

    name: str
    raw: Mapping[str, Any] = MappingProxyType({})
    path: str = ""  #: of its file

    def __repr__(self) -> str:
        return f"Context({self.name!r})"  # raw holds secrets

    def get(self, key: str) -> Any:
        """Return the value of a key, or its empty value."""
        return self.raw.get(key) or KEYS.get(key)

    def document(self, *, show_secrets: bool = False) -> dict[str, Any]:
        """Return every key with its value: in the order of the `nats` tool, unknown keys last.

        Secrets are replaced by stars, except with show_secrets.
        """
        document = {**KEYS, **drop_marks(self.raw)}
        return document if show_secrets else {key: _hide(key, value) for key, value in document.items()}


def drop_marks(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a context without those that people do not see; a copy does not have them either."""
    return {key: value for key, value in raw.items() if key not in FILE_KEYS or FILE_KEYS[key].label}


def strip_login(address: str) -> str:
    """Return an address of servers, a proxy or Spark, or several separated by commas: nothing of it but
    schemes, hosts and ports. Whatever shows an address calls this."""
    return ",".join(_strip_one(part) for part in re.split(_BETWEEN_ADDRESSES, address.strip()))


def name_place(settings: Settings) -> str:
    """Return the place in a few words: `hub`, or `hub@leaf` with a domain; without a context, the address."""
    where = settings.context or strip_login(settings.url.partition(",")[0])
    domain = f"@{settings.js_domain}" if settings.js_domain else ""
    return f"{where}{domain}{' ' * bool(settings.js_api_prefix)}{settings.js_api_prefix}"


def drop_login(url: str) -> str:
    """Return addresses to connect to, without their logins; unlike `strip_login`, it is not for showing."""
    parts = map(_split_schemes, url.split(","))
    return ",".join(schemes + rest.rpartition("@")[2] for schemes, rest in parts)


def strip_logins(text: str) -> str:
    """Return a message with `strip_login` applied to the addresses in it of servers, and to any other address
    with a login; other addresses lose parameters that hold secrets.

    Every message for people goes through it: an address may stand in the place of any name.
    """
    if "://" in text:
        text = re.sub(_ADDRESS, lambda match: _hide_address(match[0]), text)
    return re.sub(_BARE_LOGIN, "", text) if "@" in text else text


def _strip_one(address: str) -> str:
    schemes, rest = _split_schemes(address)
    hosts = re.split("[/?#;]", rest.rpartition("@")[2])[0]  # a password may contain anything, a host no @
    return schemes + ",".join(map(_strip_password, hosts.split(",")))


def _strip_password(host: str) -> str:
    """Return a host without what follows it, if that is no port: a password without @, or a mistake."""
    name, _, port = host.strip().rpartition(":")
    return name if name and not port.isdigit() and not host.endswith("]") else host.strip()


def _split_schemes(address: str) -> tuple[str, str]:
    """Return `k8s://https://` and the rest of such an address."""
    match = re.match(r"(?:[\w+.-]+://)*", address)
    schemes = match[0] if match else ""
    return schemes, address[len(schemes) :]


def _hide_address(text: str) -> str:
    quote = text[0] if text[0] in "'\"" else ""
    address = text.strip(quote) if quote else text
    known = {scheme.lower() for scheme in re.findall(r"([\w+.-]+)://", address)} & set(_SERVER_SCHEMES)
    if not known and "@" not in address:
        return _without_parameters(text)
    return f"{quote}{strip_login(address)}{quote}"


def _mask_login(address: str) -> str:
    """Return an address with stars for its password, as a context shows its own."""
    schemes, rest = _split_schemes(address)
    login, at, hosts = rest.rpartition("@")
    user, colon, _ = login.partition(":")
    return f"{schemes}{f'{user}{colon}' if colon else ''}{HIDDEN}@{hosts}" if at else address


def _hide(key: str, value: Any) -> Any:
    """Return the value of a key with all secrets in it replaced by stars, at any depth."""
    if not value:
        return value
    if key in _SECRET_KEYS and isinstance(value, str) and schemes.is_shown(value):
        return value
    if key in _SECRET_KEYS or (key not in KEYS and re.search(_SECRET_NAME, key)):
        return HIDDEN
    if isinstance(value, Mapping):
        return {name: _hide(str(name), item) for name, item in value.items()}
    if isinstance(value, list):
        return [_hide("", item) for item in value]
    if not isinstance(value, str):
        return value
    if is_secret(value):
        return HIDDEN
    if "@" in value and (key in ("url", "socks_proxy") or "://" in value):
        value = ",".join(map(_mask_login, re.split(_BETWEEN_ADDRESSES, value)))
    return _without_parameters(value)


def _without_parameters(url: str) -> str:
    """Return text with the parameters of URLs that hold secrets masked."""

    def mask_parameter(match: re.Match[str]) -> str:
        return f"{match[1]}{match[2]}={HIDDEN}" if re.search(_SECRET_NAME, match[2]) else match[0]

    return re.sub(_PARAMETER, mask_parameter, url)


def is_secret(value: str) -> bool:
    """Return whether a text looks like a seed, a JWT or a key."""
    return bool(re.search(_SECRET_VALUE, value))


def expand_path(path: str) -> Path:
    """Expand environment variables and `~` in a path of a context file, as the `nats` tool does."""
    return expand_home(os.path.expandvars(path))
