"""Contexts of local servers. They carry a mark, so that a context of the user's is never touched.

The mark holds the network's folder and a digest of the rest: a context of ours that somebody edited is
theirs from then on.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jsctl.contexts.store import ContextStore
from jsctl.errors import JsctlError
from jsctl.localserver.folder import in_use

MARK = "jsctl_server"


def save(store: ContextStore, name: str, raw: Mapping[str, Any], folder: Path) -> str:
    """Write a context under `name`, or `name-2` ... where that one is somebody's; returns the name taken.

    Raises BadInput for an impossible name.
    """
    number, taken = 1, name
    while store.exists(taken) and not _is_free(store, taken, folder):
        number += 1
        taken = f"{name}-{number}"
    # Saved twice: the store fills in the keys that were left out, and the digest is of the whole.
    whole = store.save(taken, raw).raw
    store.save(taken, {**whole, MARK: {"folder": str(folder), "digest": _digest(whole)}})
    return taken


def folder_of(store: ContextStore, name: str) -> Path | None:
    """The folder of the network that a context was written for; None where it is none of ours.
    Raises BadInput, NotFound."""
    mark = store.load(name).raw.get(MARK)
    return Path(str(mark.get("folder"))) if isinstance(mark, dict) and mark.get("folder") else None


def forget(environ: Mapping[str, str], names: Sequence[str], folder: str) -> None:
    """Remove contexts of a network that were not edited since."""
    store = ContextStore.from_environment(environ)
    for name in names:
        if store.exists(name) and _owner(store, name) == Path(folder):
            store.remove(name)


def _is_free(store: ContextStore, name: str, folder: Path) -> bool:
    owner = _owner(store, name)
    return owner is not None and (owner == folder or not in_use(owner))


def _owner(store: ContextStore, name: str) -> Path | None:
    """The network that a context belongs to; None when it is the user's own."""
    try:
        raw = dict(store.load(name).raw)
    except JsctlError:
        return None
    mark = raw.pop(MARK, None)
    if not isinstance(mark, dict) or mark.get("digest") != _digest(raw):
        return None
    return Path(str(mark.get("folder")))


def _digest(raw: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:16]
