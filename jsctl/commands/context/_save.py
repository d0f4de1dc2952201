"""What add and copy share: flags laid over a context, then saved and shown."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsctl.contexts.model import DEFAULT_URL, KEYS, Context
from jsctl.contexts.settings import CONTEXT_KEYS, METHODS, check_subject, from_context, given, overlay
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.nats.addresses import parse_addresses
from jsctl.nats.proxy import parse_proxy
from jsctl.views.context import contexts as view
from jsctl.views.result import Result


def layer(env: Env, description: str | None, nsc: str | None) -> dict[str, Any]:
    """The flags and variables that a context can hold, by Settings field, and `description`."""
    values = {
        name: value for name, value in given(env.flags, env.from_environment).items() if name in CONTEXT_KEYS
    }
    for name in ("tlscert", "tlskey", "tlsca", "creds", "nkey"):
        if values.get(name):
            values[name] = _anywhere(values[name])
    if nsc is not None:
        values["nsc"] = nsc
    if description is not None:
        values["description"] = description
    return values


def save(env: Env, name: str, base: Context | None, values: Mapping[str, Any], *, select: bool) -> Result:
    """Lay `values` over `base`, check, save as `name`, select when asked, and show. Raises BadInput."""
    ways = [method for method in METHODS if values.get(method)]
    if len(ways) > 1 and not (len(ways) == 2 and "token" in ways and "user" not in ways):
        raise BadInput(
            "more than one way to log in", f"choose one of {', '.join(f'--{way}' for way in ways)}"
        )
    raw: dict[str, Any] = dict(base.raw) if base else {}
    below = from_context(base) if base else {}
    result = overlay(below, values)
    if gone := [way for way in METHODS if below.get(way) and not result.get(way)]:
        env.say(f"jsctl: the login by {', '.join(gone)} was replaced")
    for field, key in CONTEXT_KEYS.items():
        if result.get(field) or raw.get(key):
            raw[key] = result.get(field) or KEYS[key]
    if "description" in values:
        raw["description"] = values["description"]
    if not raw.get("url") and not raw.get("nsc"):
        raw["url"] = DEFAULT_URL
    _check(raw)
    store = env.contexts
    saved = store.save(name, raw)
    if select:
        store.select(name)
    return view.info(saved)


def _anywhere(path: str) -> str:
    """A path that means the same from every folder; `~` and variables stay as they are."""
    if path.startswith(("~", "$", "op://")):
        return path
    return str(Path(path).absolute())


def _check(raw: Mapping[str, Any]) -> None:
    """Raises BadInput for addresses and subjects that nobody could use."""
    if raw.get("url"):
        parse_addresses(str(raw["url"]))
    if raw.get("socks_proxy"):
        parse_proxy(str(raw["socks_proxy"]))
    for key in ("jetstream_domain", "jetstream_api_prefix", "jetstream_event_prefix", "inbox_prefix"):
        check_subject(key, raw.get(key) or "")
