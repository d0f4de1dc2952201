"""Protected streams: a mark in the metadata, set by `protect: true` in a declared file. What it protects from
is ours: no server knows it."""

from collections.abc import Collection, Iterable

from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json

PROTECT = "jsctl.protect"
"""The metadata key of a stream that is removed and purged only when it is named."""


def is_protected(config: Json) -> bool:
    """Return whether a stream's configuration has the mark."""
    return (config.get("metadata") or {}).get(PROTECT) == "true"


def endangers(before: Json, after: Json) -> bool:
    """Return whether a protected stream needs permission for a change that may delete nothing at once:
    messages age sooner, or it is sealed."""
    old_age, new_age = (int(config.get("max_age") or 0) for config in (before, after))
    ages_sooner = new_age > 0 and not 0 < old_age <= new_age
    return ages_sooner or bool(after.get("sealed") and not before.get("sealed"))


def list_names_of(stream: str) -> set[str]:
    """Return what people call a stream: its name, and that of the bucket that it holds."""
    return {stream, stream.removeprefix("KV_"), stream.removeprefix("OBJ_")}


def refuse_protected(infos: Iterable[Json], unprotected: Collection[str] = (), *, hint: str = "") -> None:
    """Raise JsctlError for a protected stream that is not among the names `unprotected`, its own or its
    bucket's. hint: what to do, if nothing permits it."""
    for info in infos:
        stream = str(info["config"]["name"])
        if is_protected(info["config"]) and not list_names_of(stream) & {*unprotected}:
            name = min(list_names_of(stream), key=len)
            raise JsctlError(
                f"nothing was done: stream {stream} is protected", hint or f"--unprotect {name} permits it"
            )
