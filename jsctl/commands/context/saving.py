"""The flags of a context, and saving it: the common parts of `context add` and `context copy`."""

import base64
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jsctl.base.files import read_bytes
from jsctl.commands.cli import declare_all, option
from jsctl.contexts import schemes
from jsctl.contexts.layers import find_flag, merge_flags
from jsctl.contexts.model import Context, drop_marks, expand_path
from jsctl.contexts.settings import CONTEXT_KEYS, METHODS, PATHS
from jsctl.contexts.update import update, with_absolute_paths
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.nats.addresses import parse_addresses
from jsctl.nats.proxy import parse_proxy
from jsctl.views.context import info as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class ContextFlags:
    """The flags of `context_flags`; None for those that were left out."""

    description: str | None
    nsc: str | None
    select_it: bool
    embed: bool
    production: bool | None


context_flags = declare_all(
    option("--description", metavar="TEXT", help="Description, shown in lists"),
    option("--select", "-S", "select_it", is_flag=True, help="Select the saved context"),
    option("--embed", is_flag=True, help="Store the content of the --creds or --nkey file, not its path"),
    option(
        "--production/--no-production",
        default=None,
        help="Mark it as production: report --allow-changes asks for its name",
    ),
    option("--nsc", metavar="URL", help="User to look up with nsc: nsc://operator/account/user"),
)
"""The flags of `ContextFlags`."""


def collect_values(env: Env, flags: ContextFlags) -> dict[str, Any]:
    """Return the flags and variables that a context can hold, by Settings field, and `description`."""
    settings = merge_flags(env.flags, env.from_environment)
    values = with_absolute_paths({name: settings[name] for name in settings if name in CONTEXT_KEYS})
    context_values = {"nsc": flags.nsc, "description": flags.description, "production": flags.production}
    return values | {name: value for name, value in context_values.items() if value is not None}


def save(
    env: Env,
    name: str,
    base: Context | None,
    values: Mapping[str, Any],
    flags: ContextFlags,
) -> Result:
    """Merge `values` into `base`, save the result as `name`, select it if wanted, and show it. Raises
    BadInput."""
    if base and base.name != name:
        base = base._replace(raw=drop_marks(base.raw))
    updated = update(base, values)
    if updated.raw.get("url"):
        parse_addresses(str(updated.raw["url"]))
    if updated.raw.get("socks_proxy"):
        parse_proxy(str(updated.raw["socks_proxy"]))
    for missing in [*_check_files(values, embed=flags.embed)]:
        env.say(f"warning: {missing}")
    if flags.embed:
        _embed(updated.raw)
    if updated.replaced:
        env.say(f"jsctl: the login by {', '.join(updated.replaced)} was replaced")
    if values.get("url") and base and (login := _describe_kept_login(env, base, values, updated.raw)):
        env.say(f"jsctl: the login by {login} is that of context {base.name!r}")
    for method in METHODS:
        if values.get(method) and method in env.from_environment:
            env.say(f"jsctl: the login by {method} is from the environment")
    store = env.contexts
    context = store.save(name, updated.raw)
    if flags.select_it:
        store.select(name)
    return view.info_page(context)


def _describe_kept_login(env: Env, base: Context, values: Mapping[str, Any], raw: Mapping[str, Any]) -> str:
    """Return how the saved context logs in with what the base had, at another server; empty for neither."""
    if values.get("url") == base.get("url") or any(values.get(method) for method in METHODS):
        return ""
    return " and ".join(method for method in METHODS if raw.get(CONTEXT_KEYS[method]))


def _check_files(values: Mapping[str, Any], *, embed: bool) -> Iterator[str]:
    """Yield a sentence for each file of the login that does not exist yet. Raise BadInput for one that cannot
    be read or, unless it is embedded, not again."""
    for field in PATHS:
        path = str(values.get(field) or "")
        if not path or schemes.parse(path) or "$" in str(expand_path(path)):
            continue
        if not embed and not os.path.lexists(expand_path(path)):
            yield f"--{field}: {path} does not exist yet"
            continue
        try:
            read_bytes(expand_path(path), regular=not embed)
        except BadInput as error:
            raise BadInput(f"{find_flag(field)}: {error.message}", "the context was not saved") from None


def _embed(raw: dict[str, Any]) -> None:
    """Replace the paths of credentials and nkey files by what is in them. Raises BadInput."""
    paths = {key: str(raw[key]) for key in ("creds", "nkey") if raw.get(key)}
    if not paths:
        raise BadInput("there is no file to embed", "--embed is for --creds and --nkey")
    for key, path in paths.items():
        reference = schemes.parse(path)
        if reference is None or reference.scheme == schemes.FILE:
            data = read_bytes(expand_path(reference.rest if reference else path), key)
            raw[key] = schemes.DATA + base64.b64encode(data).decode()
