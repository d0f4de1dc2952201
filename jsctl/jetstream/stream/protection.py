"""What is refused before it is sent, in a dry run as well: removals of messages that a stream's configuration
denies, as its server would; and what protected streams are protected from. Their mark is ours, in the
metadata: no server knows it. `protect: true` in a declared file sets it."""

from collections.abc import Collection, Iterable
from typing import Literal

from jsctl.errors import ApiError, JsctlError
from jsctl.jetstream.api import Json
from jsctl.nats.error_codes import ErrorCode

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


def refuse_denied(infos: Collection[Json], key: Literal["deny_purge", "deny_delete", ""] = "") -> None:
    """Raise ApiError, as servers do, for a stream that is sealed, or that denies what a key of its
    configuration is about (nats-server: jetstream_api.go)."""
    from jsctl.jetstream.error_hints import find_hint

    for info in infos:
        config, error = info["config"], None
        if config.get("sealed"):
            error = 400, ErrorCode.STREAM_SEALED, "invalid operation on sealed stream"
        elif config.get("deny_purge") and key == "deny_purge":
            error = 500, ErrorCode.STREAM_PURGE_FAILED, "stream purge not permitted"
        elif config.get("deny_delete") and key == "deny_delete":
            error = 500, ErrorCode.STREAM_MSG_DELETE_FAILED, "message delete not permitted"
        if error:
            code, number, text = error
            name = str(config["name"])
            text = f"nothing was done: {name}: {text}" if len(infos) > 1 else text
            raise ApiError(code, number, text, find_hint(number, name))


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
