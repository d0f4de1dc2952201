"""Where the files of a label were applied before, so that --prune also looks in contexts that no file names
any more.

A file for each label, in the user's state folder, holds contexts, domains and accounts, and nothing of the
streams. On another machine, only the places of the files are known.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from jsctl.base.files import read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.posix import make_private_folder
from jsctl.base.user_folders import find_state_folder
from jsctl.env import Env
from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream.declared.model import Declared, Place
from jsctl.jetstream.declared.step import Target


def add_former_places(env: Env, declared: Declared) -> Declared:
    """Return the declarations with the places where their labels were applied before. Raises NotFound for a
    context that does not exist any more."""
    labels = {place: set(names) for place, names in declared.labels.items()}
    for label in _list_labels(declared.labels):
        for place in _read_places(env, label):
            labels.setdefault(place, set()).add(label)
            _check_context(env, label, place)
    return replace(declared, labels={place: frozenset(names) for place, names in labels.items()})


def save_places(
    env: Env, labels: Mapping[Place, frozenset[str]], targets: Mapping[Place, Target], *, pruned: bool
) -> None:
    """Note where labels are now. pruned: whether nothing of them is left in former places.

    Places without a context have no name that could be noted; a folder that cannot be written is ignored.
    """
    for label in _list_labels(labels):
        places = {
            replace(place, context=place.context or targets[place].context)
            for place, names in labels.items()
            if label in names
        }
        if not pruned:
            places.update(_read_places(env, label))
        named = sorted((place for place in places if place.context), key=repr)
        path = _find_path(env, label)
        entries = [
            {"context": place.context, "domain": place.domain, "account": place.account} for place in named
        ]
        content = {"label": label, "places": entries}
        with contextlib.suppress(OSError):
            if named or path.exists():
                make_private_folder(path.parent)
                write_atomically(path, json.dumps(content) + "\n")


def _list_labels(labels: Mapping[Place, frozenset[str]]) -> set[str]:
    return {label for names in labels.values() for label in names}


def _read_places(env: Env, label: str) -> Iterator[Place]:
    try:
        for place in parse_json(read_text(_find_path(env, label)))["places"]:
            yield Place(str(place["context"]), place["domain"], str(place["account"]))
    except (JsctlError, ValueError, KeyError, TypeError):
        return  # nothing was noted, or by another version


def _check_context(env: Env, label: str, place: Place) -> None:
    try:
        env.contexts.find(place.context)
    except NotFound:
        raise NotFound(
            f"label {label} was applied to context {place.context}, which does not exist any more, so"
            " --prune cannot tell what to remove there",
            f"add the context again, or remove {_find_path(env, label)}",
        ) from None


def _find_path(env: Env, label: str) -> Path:
    name = hashlib.sha256(label.encode()).hexdigest()[:16]
    return find_state_folder(env.environ) / "jsctl" / "applied" / f"{name}.json"
