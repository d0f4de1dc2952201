"""What a connection is made from: flag, then environment, then context, then default.

The command line has laid flags over the environment already; `resolve` lays them over a context.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jsctl.contexts.model import DEFAULT_URL, Context
from jsctl.errors import BadInput
from jsctl.units import SECOND

_TOKEN = re.compile(r"[^\s.*>]+(\.[^\s.*>]+)*")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a connection and its JetStream requests need. Secrets are kept out of repr."""

    url: str = DEFAULT_URL  #: one or more, comma separated
    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    creds: str = ""  #: path of a credentials file
    nkey: str = ""  #: path of a seed file
    jwt: str = field(default="", repr=False)
    seed: str = field(default="", repr=False)
    tlscert: str = ""
    tlskey: str = ""
    tlsca: str = ""
    tlsfirst: bool = False
    socks_proxy: str = ""
    inbox_prefix: str = "_INBOX"
    js_domain: str = ""
    js_api_prefix: str = ""
    js_event_prefix: str = ""
    connection_name: str = ""
    timeout: int = 5 * SECOND  #: ns
    colors: str = ""
    context: str = ""  #: the name of the context that was used


_FROM_CONTEXT = {
    "url": "url",
    "user": "user",
    "password": "password",
    "token": "token",
    "creds": "creds",
    "nkey": "nkey",
    "jwt": "user_jwt",
    "seed": "user_seed",
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


def resolve(flags: Mapping[str, Any], context: Context | None) -> Settings:
    """Flags (by Settings field; `server` for the URL; an empty value clears) laid over a context.

    Raises BadInput where domain and API prefix are both set in one place, or are no subjects.
    """
    given = dict(flags)
    if "server" in given:
        given["url"] = given.pop("server")
    values: dict[str, Any] = {}
    if context:
        values = {name: context.get(key) for name, key in _FROM_CONTEXT.items() if context.get(key)}
        values["context"] = context.name
        if values.get("js_domain") and values.get("js_api_prefix"):
            raise BadInput(
                f"context {context.name!r} has both a JetStream domain and an API prefix",
                f"run jsctl context edit {context.name} and empty one",
            )
    if given.get("js_domain") and given.get("js_api_prefix"):
        raise BadInput("--js-domain and --js-api-prefix exclude each other", "give one")
    if "js_domain" in given or "js_api_prefix" in given:
        # Either replaces what the context has, so that a context is never half in force.
        values.pop("js_domain", None)
        values.pop("js_api_prefix", None)
    known = Settings.__dataclass_fields__
    values.update({name: value for name, value in given.items() if name in known})
    for name in ("url", "inbox_prefix"):
        if not values.get(name):
            values.pop(name, None)
    settings = Settings(**values)
    for flag in ("js_domain", "js_api_prefix", "js_event_prefix", "inbox_prefix"):
        value = getattr(settings, flag)
        if value and not _TOKEN.fullmatch(value):
            raise BadInput(
                f"--{flag.replace('_', '-')} {value!r} is no subject prefix",
                "use tokens with dots between them",
            )
    return settings
