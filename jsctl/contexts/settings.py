"""What a connection is made from: flag, then environment, then context, then default.

The login is one thing: a layer that brings a login of its own replaces what lies below it, so that a
context's password never travels with a flag's user.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from jsctl.contexts.model import COLOR_SCHEMES, DEFAULT_URL, Context, public_url
from jsctl.errors import BadInput
from jsctl.units import SECOND

_TOKEN = r"[^\s.*>]+(\.[^\s.*>]+)*"  # `re` compiles it at its first use


@dataclass(frozen=True)
class Settings:
    """Everything a connection and its JetStream requests need. Secrets are kept out of repr."""

    url: str = field(default=DEFAULT_URL, repr=False)  #: one or more, comma separated; may hold a login
    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    creds: str = ""  #: path of a credentials file
    nkey: str = ""  #: path of a seed file
    jwt: str = field(default="", repr=False)
    seed: str = field(default="", repr=False)
    nsc: str = ""  #: nsc://operator/account/user, looked up when connecting
    tlscert: str = ""
    tlskey: str = ""
    tlsca: str = ""
    tlsfirst: bool = False
    socks_proxy: str = field(default="", repr=False)
    inbox_prefix: str = "_INBOX"
    js_domain: str = ""
    js_api_prefix: str = ""
    js_event_prefix: str = ""
    connection_name: str = ""
    timeout: int = 5 * SECOND  #: ns
    colors: str = ""
    context: str = ""  #: the name of the context that was used
    files: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """(path, text) of files above that were read already, for machines that do not have them."""


CONTEXT_KEYS = {
    "url": "url",
    "user": "user",
    "password": "password",
    "token": "token",
    "creds": "creds",
    "nkey": "nkey",
    "jwt": "user_jwt",
    "seed": "user_seed",
    "nsc": "nsc",
    "tlscert": "cert",
    "tlskey": "key",
    "tlsca": "ca",
    "tlsfirst": "tls_first",
    "socks_proxy": "socks_proxy",
    "inbox_prefix": "inbox_prefix",
    "js_domain": "jetstream_domain",
    "js_api_prefix": "jetstream_api_prefix",
    "js_event_prefix": "jetstream_event_prefix",
    "colors": "color_scheme",
}
"""Settings field -> key of a context file."""

METHODS = {
    "user": ("user", "password"),
    "token": ("token",),
    "creds": ("creds",),
    "nkey": ("nkey",),
    "jwt": ("jwt", "seed"),
    "nsc": ("nsc",),
}
"""Ways to log in -> the settings that belong to each."""

_SIGNED = ("creds", "nkey", "jwt", "nsc")  #: a token may go with these (auth callout)


def from_context(context: Context) -> dict[str, Any]:
    """A context's values by Settings field; empty ones left out."""
    return {name: context.get(key) for name, key in CONTEXT_KEYS.items() if context.get(key)}


def given(flags: Mapping[str, Any], from_environment: Collection[str | None] = ()) -> dict[str, Any]:
    """Flags by Settings field, as one layer: true flags laid over those from the environment.

    A user without a password is a token, as in the `nats` tool. Raises BadInput.
    """
    names = {"server": "url"}
    known = {names.get(flag, flag): value for flag, value in flags.items()}
    known = {name: value for name, value in known.items() if name in Settings.__dataclass_fields__}
    variables = {names.get(flag, flag) for flag in from_environment if flag}
    below = {name: value for name, value in known.items() if name in variables}
    above = {name: value for name, value in known.items() if name not in variables}
    below.pop("context", None)
    above.pop("context", None)
    values = overlay(below, above)
    for first, second in (("user", "password"), ("jwt", "seed")):
        if above.get(first) and second in below and second not in above:
            values[second] = below[second]  # NATS_PASSWORD and --user make a pair
    if values.get("user") and not values.get("password"):
        values["token"] = values.pop("user")
        values.pop("password", None)
    if values.get("js_domain") and values.get("js_api_prefix"):
        raise BadInput("--js-domain and --js-api-prefix exclude each other", "give one")
    if values.get("colors") and values["colors"] not in COLOR_SCHEMES:
        raise BadInput(
            f"unknown colour scheme {values['colors']!r}", f"use one of {', '.join(COLOR_SCHEMES)}"
        )
    if values.get("socks_proxy") in ("none", "NONE", "-"):
        values["socks_proxy"] = ""
    if "timeout" in values and values["timeout"] <= 0:
        raise BadInput("--timeout must be more than 0")
    return values


def overlay(values: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """`layer` laid over `values`, both by Settings field; an empty value clears.

    A login in the layer (also one in its URL) replaces the login below; --password alone completes a
    user, --seed a JWT, and a token is added to credentials. A domain or prefix replaces both.
    """
    result = dict(values)
    methods = {name for name in METHODS if layer.get(name)}
    has_url_login = "@" in str(layer.get("url", ""))
    if methods == {"token"} and not has_url_login and any(result.get(name) for name in _SIGNED):
        replaced: set[str] = {"user", "token"}
    else:
        replaced = set(METHODS) if methods or has_url_login else set()
    for name in replaced:
        for setting in METHODS[name]:
            result.pop(setting, None)
    if methods and "url" not in layer and "@" in str(result.get("url", "")):
        result["url"] = public_url(result["url"])
    if "js_domain" in layer or "js_api_prefix" in layer:
        # Either replaces what lies below, so that a context is never half in force.
        result.pop("js_domain", None)
        result.pop("js_api_prefix", None)
    result.update(layer)
    return result


def resolve(
    flags: Mapping[str, Any], context: Context | None, from_environment: Collection[str | None] = ()
) -> Settings:
    """Flags (by Settings field; `server` for the URL; an empty value clears) laid over a context.

    `from_environment` names those of the flags that came from the environment.
    Raises BadInput where domain and API prefix are both set in one place, or are no subjects.
    """
    values = overlay(from_context(context) if context else {}, given(flags, from_environment))
    if values.get("js_domain") and values.get("js_api_prefix"):
        raise BadInput(
            f"context {context.name if context else ''!r} has both a JetStream domain and an API prefix",
            "run jsctl context edit and empty one",
        )
    if context:
        values["context"] = context.name
    for name in ("url", "inbox_prefix"):
        if not values.get(name):
            values.pop(name, None)
    if values.get("nsc") and "url" not in values:
        values["url"] = ""
    settings = Settings(**values)
    for name in ("js_domain", "js_api_prefix", "js_event_prefix", "inbox_prefix"):
        check_subject(f"--{name.replace('_', '-')}", getattr(settings, name))
    return settings


def check_subject(what: str, value: str) -> None:
    """Raises BadInput when a domain or prefix is no subject; an empty value is fine."""
    if value and not re.fullmatch(_TOKEN, value):
        raise BadInput(f"{what} {value!r} is no subject prefix", "use tokens with dots between them")
