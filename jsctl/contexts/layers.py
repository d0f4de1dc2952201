"""The settings of a connection, from flags, environment, context and defaults, in this order.

A login is a unit: one from a flag replaces the whole login of the context, so that the context's password is
never sent with the user of a flag.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from jsctl.contexts import schemes
from jsctl.contexts.model import COLOR_SCHEMES, Context, drop_login, is_secret, strip_login
from jsctl.contexts.settings import (
    CONTEXT_KEYS,
    DEFAULT_URL,
    FLAGS,
    METHODS,
    PATHS,
    SECRETS,
    SETTINGS,
    SUBJECTS,
    Settings,
)
from jsctl.errors import BadInput

_TOKEN = r"[^\s.*>]+(\.[^\s.*>]+)*"  # `re` compiles it at its first use


FOR_ALL_CONTEXTS = frozenset({"timeout", "colors"})
"""Flags whose environment variables apply to a context that is named, too; NATS_URL and logins do not."""

_SIGNED = ("creds", "nkey", "jwt", "nsc")  #: a token may be used with these (auth callout)


def from_context(context: Context) -> dict[str, Any]:
    """Return the values of a context by Settings field, without empty ones."""
    return {name: context.get(key) for name, key in CONTEXT_KEYS.items() if context.get(key)}


def to_flags(values: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line for values by Settings field, and `description`; empty ones are left
    out, and a word such as PASSWORD stands for a secret."""
    words: list[str] = []
    for name, value in values.items():
        flag = find_flag(name)
        if value is True:
            words.append(flag)
        elif value:
            hidden = (
                strip_login(str(value))
                if name in SETTINGS and SETTINGS[name].kind == "address"
                else str(value)
            )
            words += [flag, name.upper() if name in SECRETS or is_secret(hidden) else hidden]
    return words


def find_flag(name: str) -> str:
    """Return the flag of a setting, or of what only contexts have, such as `description`."""
    return FLAGS[name].names[0].partition("/")[0] if name in FLAGS else f"--{name}"


def merge_flags(flags: Mapping[str, Any], from_environment: Collection[str | None]) -> dict[str, Any]:
    """Return the values of flags by Settings field, with those of the command line applied to those of the
    environment.

    A user without a password is a token, as in the `nats` tool. Raises BadInput.
    """
    field_names = {"server": "url"}
    values_by_field = {field_names.get(flag, flag): value for flag, value in flags.items()}
    settings = {name: value for name, value in values_by_field.items() if name in SETTINGS}
    variables = {field_names.get(flag, flag) for flag in from_environment if flag}
    environment = {name: value for name, value in settings.items() if name in variables}
    command_line = {name: value for name, value in settings.items() if name not in variables}
    values = merge(environment, command_line)
    for first, second in (("user", "password"), ("jwt", "seed")):
        if command_line.get(first) and second in environment and second not in command_line:
            values[second] = environment[second]  # NATS_PASSWORD completes --user
    if values.get("user") and not values.get("password"):
        values["token"] = values.pop("user")
        values.pop("password", None)
    check_paths(values)
    if values.get("js_domain") and values.get("js_api_prefix"):
        raise BadInput("--js-domain and --js-api-prefix cannot be used together", "use only one")
    if values.get("colors") and values["colors"] not in COLOR_SCHEMES:
        raise BadInput(f"unknown color scheme {values['colors']!r}", f"use one of {', '.join(COLOR_SCHEMES)}")
    if values.get("socks_proxy") in ("none", "NONE", "-"):
        values["socks_proxy"] = ""
    if "timeout" in values and values["timeout"] <= 0:
        raise BadInput("--timeout must be more than 0")
    return values


def merge(values: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` with `layer` applied, both by Settings field. An empty value clears a setting.

    A login in the layer, or in its URL, replaces the login in `values`. A password alone completes a user,
    a seed completes a JWT, and a token is added to credentials. A domain or an API prefix replaces both.
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
        result["url"] = drop_login(result["url"])
    if "js_domain" in layer or "js_api_prefix" in layer:
        # Either one replaces both, so that the two never come from different places.
        result.pop("js_domain", None)
        result.pop("js_api_prefix", None)
    result.update(layer)
    return result


def resolve(
    flags: Mapping[str, Any], context: Context | None, from_environment: Collection[str | None] = ()
) -> Settings:
    """Return the settings of a context with flags applied.

    flags: by Settings field, `server` for the URL; an empty value clears a setting. from_environment: which
    of the flags come from environment variables. The settings have the context's name unless a flag or
    variable leads to another server.

    Raises BadInput when domain and API prefix are both set in one place, or are not valid subjects.
    """
    layer = merge_flags(flags, from_environment)
    values = merge(from_context(context) if context else {}, layer)
    check_paths(values)
    if values.get("js_domain") and values.get("js_api_prefix"):
        raise BadInput(
            f"context {context.name if context else ''!r} has both a JetStream domain and an API prefix",
            "clear one of them with jsctl context edit",
        )
    if context and not _leads_elsewhere(layer.get("url"), context):
        values["context"] = context.name
    for name in ("url", "inbox_prefix"):
        if not values.get(name):
            values.pop(name, None)
    if values.get("nsc") and "url" not in values:
        values["url"] = ""
    settings = Settings(**values)
    for name in SUBJECTS:
        check_subject(find_flag(name), getattr(settings, name))
    return settings


def _leads_elsewhere(url: str | None, context: Context) -> bool:
    """Return whether a URL of the command line or the environment differs from the context's.

    The context's name would then be misleading.
    """
    return bool(url) and strip_login(str(url)) != strip_login(context.get("url") or DEFAULT_URL)


def check_paths(values: Mapping[str, Any]) -> None:
    """Raise BadInput for a secret in place of the path of its file; the error does not show it."""
    for name in PATHS:
        value = str(values.get(name) or "")
        if value and is_secret(value) and not (SETTINGS[name].may_refer and schemes.parse(value)):
            raise BadInput(
                f"{find_flag(name)} takes the path of a file, not its content",
                "write it to a file that only you can read, and use its path",
            )


def check_subject(name: str, value: str) -> None:
    """Check a domain or a subject prefix, which may be empty. Raises BadInput."""
    if value and not re.fullmatch(_TOKEN, value):
        raise BadInput(f"{name} {value!r} is not a valid subject prefix", "use tokens separated by dots")
