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


def refuse_protected(infos: Iterable[Json], unprotected: Collection[str]) -> None:
    """Raise JsctlError for a protected stream that is not among the names `unprotected`."""
    for info in infos:
        name = str(info["config"]["name"])
        if name not in unprotected and is_protected(info["config"]):
            raise JsctlError(
                f"nothing was done: stream {name} is protected", f"--unprotect {name} permits it"
            )
