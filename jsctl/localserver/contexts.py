"""The contexts of local servers, which carry a mark, so that jsctl never changes a context of the user's.

The mark holds the folder of the network and a digest of the rest: a context that somebody edits belongs to
the user from then on.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jsctl.contexts.settings import SERVER_MARK
from jsctl.contexts.store import ContextStore
from jsctl.errors import JsctlError, NotFound
from jsctl.localserver.folder import is_in_use


def save(store: ContextStore, name: str, raw: Mapping[str, Any], folder: Path) -> str:
    """Write a context as `name` or, if that is a context of the user's, as `name-2` and so on. Returns its
    name.

    Raises BadInput for an invalid name.
    """
    number, free_name = 1, name
    while store.exists(free_name) and not _is_free(store, free_name, folder):
        number += 1
        free_name = f"{name}-{number}"
    # Saved twice: the store adds the missing keys, and the digest is of all keys.
    document = store.save(free_name, raw).raw
    store.save(
        free_name, {**document, SERVER_MARK: {"folder": str(folder), "digest": _compute_digest(document)}}
    )
    return free_name


def find_folder(store: ContextStore, name: str) -> Path | None:
    """Return the folder of the network that a context was written for; None for a context of the user's.

    Raises BadInput, NotFound.
    """
    mark = store.load(name).raw.get(SERVER_MARK)
    return Path(str(mark.get("folder"))) if isinstance(mark, dict) and mark.get("folder") else None


def forget(environ: Mapping[str, str], names: Sequence[str], folder: str) -> None:
    """Remove the contexts of a network, except those that somebody edited."""
    store = ContextStore.from_environment(environ)
    for name in names:
        with contextlib.suppress(NotFound):  # the network that ends removes them, too
            if store.exists(name) and _find_owner(store, name) == Path(folder):
                store.remove(name)


def _is_free(store: ContextStore, name: str, folder: Path) -> bool:
    owner = _find_owner(store, name)
    return owner is not None and (owner == folder or not is_in_use(owner))


def _find_owner(store: ContextStore, name: str) -> Path | None:
    """Return the folder of the network that a context belongs to; None for a context of the user's."""
    try:
        raw = dict(store.load(name).raw)
    except JsctlError:
        return None
    mark = raw.pop(SERVER_MARK, None)
    if not isinstance(mark, dict) or mark.get("digest") != _compute_digest(raw):
        return None
    return Path(str(mark.get("folder")))


def _compute_digest(raw: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:16]
