"""Where the files of a label were applied before, so that --prune also looks in contexts that no file names
any more.

A file for each label, in the user's state folder, holds contexts, domains and accounts, and nothing of the
streams. On another machine, only the places of the files are known.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from jsctl.base.files import read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.loops import gather
from jsctl.base.posix import make_private_folder
from jsctl.base.user_folders import find_state_folder
from jsctl.env import Env
from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream.declared.model import Declared, Place
from jsctl.jetstream.declared.step import Target
from jsctl.jetstream.identity import Identity, fetch_identity, read_identity


class FormerPlace(NamedTuple):
    """Where a label was applied before. jetstream: which one that was; None in notes of older versions."""

    label: str
    place: Place
    jetstream: Identity | None = None


def add_former_places(env: Env, declared: Declared) -> tuple[Declared, Sequence[FormerPlace]]:
    """Return the declarations with the places where their labels were applied before, and those of them whose
    context does not exist any more (see `refuse_unknown_places`)."""
    labels = {place: set(names) for place, names in declared.labels.items()}
    gone = []
    for label in _list_labels(declared.labels):
        for former in _read_places(env, label):
            if former.place.context in env.contexts.names():
                labels.setdefault(former.place, set()).add(label)
            else:
                gone.append(former)
    return replace(declared, labels={place: frozenset(names) for place, names in labels.items()}), gone


async def refuse_unknown_places(
    env: Env, gone: Sequence[FormerPlace], targets: Mapping[Place, Target]
) -> None:
    """Raise NotFound for a label in a JetStream to which no context leads any more. One that was renamed
    leads to the same JetStream as another place."""
    apis = [target.api for target in targets.values() if gone and not target.is_missing]
    known = await gather(map(fetch_identity, apis))
    for label, place, jetstream in gone:
        if not (jetstream and any(jetstream.is_same(identity) for identity in known)):
            raise NotFound(
                f"label {label} was applied to context {place.context}, which does not exist any more, so"
                " --prune cannot tell what to remove there",
                f"add the context again, or remove {_find_path(env, label)}",
            )


async def save_places(
    env: Env, labels: Mapping[Place, frozenset[str]], targets: Mapping[Place, Target], *, pruned: bool
) -> None:
    """Note where labels are now. pruned: whether nothing of them is left in former places.

    Places without a context have no name that could be noted; a folder that cannot be written is ignored.
    """
    for label in _list_labels(labels):
        places = {} if pruned else {former.place: former for former in _read_places(env, label)}
        for place, names in labels.items():
            named = replace(place, context=place.context or targets[place].context)
            if label in names and named.context:
                jetstream = await fetch_identity(targets[place].api, ask=False)
                places[named] = FormerPlace(label, named, jetstream)
        path = _find_path(env, label)
        entries = [
            {**place.to_json(), "jetstream": former.jetstream and former.jetstream.to_json()}
            for place, former in sorted(places.items(), key=repr)
        ]
        content = {"label": label, "places": entries}
        with contextlib.suppress(OSError):
            if entries or path.exists():
                make_private_folder(path.parent)
                write_atomically(path, json.dumps(content) + "\n")


def _list_labels(labels: Mapping[Place, frozenset[str]]) -> set[str]:
    return {label for names in labels.values() for label in names}


def _read_places(env: Env, label: str) -> Iterator[FormerPlace]:
    try:
        for place in parse_json(read_text(_find_path(env, label)))["places"]:
            jetstream = place.get("jetstream")
            yield FormerPlace(
                label,
                Place(str(place["context"]), place["domain"], str(place["account"])),
                read_identity(jetstream) if jetstream else None,
            )
    except (JsctlError, ValueError, KeyError, TypeError, AttributeError):
        return  # nothing was noted, or by another version


def _find_path(env: Env, label: str) -> Path:
    name = hashlib.sha256(label.encode()).hexdigest()[:16]
    return find_state_folder(env.environ) / "jsctl" / "applied" / f"{name}.json"
