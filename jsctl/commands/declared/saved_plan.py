"""Plans in files: `diff --out FILE` writes one, `apply FILE` carries out just that, or nothing.

A plan holds the texts of the declared files, which JetStream each place was, and the document that
`diff --json` showed. `apply` compares again, and refuses when any of these is another one.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.files import read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.loops import gather
from jsctl.base.user_folders import expand_home
from jsctl.commands.declared.sources import Sources, list_changed_files
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.declared.model import Declared, Place
from jsctl.jetstream.declared.step import Target
from jsctl.jetstream.identity import Identity, fetch_identity, read_identity
from jsctl.jetstream.message.data_loss import DataLoss, Precision

_FORM = "io.jsctl.plan.v1"
_LOSSES = frozenset(
    (
        "deletes_messages",
        "deletes_bytes",
        "deletes_precision",
        "messages",
        "bytes",
        "streams",
        "notes",
        "takes",
    )
)
"""Keys that move on while a stream is in use; a plan is stale when more would be deleted than it says."""

_LEFT_OUT = _LOSSES | {"context"}  # a JetStream is known by what it is, not by the context that leads to it

_SOURCE_KEYS = (
    *("texts", "var", "store", "prune", "push", "take_ownership", "unprotect", "targets"),
    *("digests", "show_values"),
)
_SIZE = 256 << 20  #: bytes

PLAN_AGAIN = "make it again with diff --out"


class SavedPlan(NamedTuple):
    """A plan of a file. document: what `diff --json` showed. places: which JetStream each place was: the
    place, and its `Identity` below "jetstream"; values: a digest of those that the document does not show;
    both are empty in files of older versions."""

    sources: Sources
    document: Any
    places: Sequence[Json]
    values: str


async def write_plan(
    path: str, sources: Sources, document: Any, declared: Declared, targets: Mapping[Place, Target]
) -> None:
    """Write a plan, readable by its owner only: files may hold addresses with passwords. Raises BadInput."""
    identities = await _fetch_identities(targets)
    content = {
        "type": _FORM,
        "sources": {key: getattr(sources, key) for key in _SOURCE_KEYS},
        "places": [
            {**place.to_json(), "jetstream": identity.to_json()} for place, identity in identities.items()
        ],
        "values": _compute_digest(declared),
        "plan": document,
    }
    target = expand_home(path)
    try:
        write_atomically(target, json.dumps(content, indent=2) + "\n")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None


def read_plan(path: str) -> SavedPlan:
    """Return a plan. Raises BadInput."""
    try:
        content = parse_json(read_text(expand_home(path), "", _SIZE))
        if content["type"] != _FORM:
            raise ValueError
        sources = content["sources"]
        texts = tuple((str(name), str(text)) for name, text in sources["texts"])
        names = {key: tuple(sources[key]) for key in ("var", "unprotect", "targets")}
        places, values = content.get("places", []), str(content.get("values", ""))
        return SavedPlan(Sources(**{**sources, **names, "texts": texts}), content["plan"], places, values)
    except (ValueError, KeyError, TypeError):
        raise BadInput(
            f"{path} is not a plan", "jsctl diff --out FILE writes one; -f names declared files"
        ) from None


async def refuse_other_places(
    planned: SavedPlan, declared: Declared, targets: Mapping[Place, Target]
) -> None:
    """Raise JsctlError if a file was changed since the plan was made, or a place is another JetStream."""
    if planned.values not in ("", _compute_digest(declared)):
        raise _build_error("a file of values_from was changed since")
    if changed := list_changed_files(planned.sources):
        raise _build_error(f"{changed[0]} was changed since")
    for place, identity in (await _fetch_identities(targets)).items():
        for known in planned.places:
            is_place = all(known.get(key) == value for key, value in place.to_json().items())
            if is_place and not read_identity(known["jetstream"]).is_same(identity):
                domain = f", domain {place.domain}" if place.domain else ""
                where = f"context {place.context}{domain}" if place.context else f"this place{domain}"
                raise _build_error(
                    f"{where} is another JetStream than the one it was made for, or its servers were started"
                    " again"
                )


def _compute_digest(declared: Declared) -> str:
    """Return a digest of the declared values that are not shown."""
    hidden = [
        (repr(stream.place), stream.name, key, stream.values[key])
        for stream in declared.streams
        for key in sorted(stream.hidden)
    ]
    return hashlib.sha256(json.dumps(sorted(hidden)).encode()).hexdigest()


async def _fetch_identities(targets: Mapping[Place, Target]) -> dict[Place, Identity]:
    present = {place: target.api for place, target in targets.items() if not target.is_missing}
    return dict(zip(present, await gather(map(fetch_identity, present.values())), strict=True))


def _build_error(reason: str) -> JsctlError:
    return JsctlError(f"nothing was changed: the plan is stale, as {reason}", PLAN_AGAIN)


def refuse_stale(planned: Any, document: Any) -> None:
    """Raise JsctlError when a document differs from that of a plan, or deletes more messages."""
    try:
        is_same = _strip(planned) == _strip(document)
        losses = [
            (now, _read_loss(now), _read_loss(change)) for change, now in _pair_losing(planned, document)
        ]
    except (AttributeError, KeyError, TypeError, ValueError):
        is_same, losses = False, []
    if not is_same:
        raise _build_error("servers, contexts or values have changed since")
    for change, loss, announced in losses:
        if loss.exceeds(announced):
            raise JsctlError(
                f"nothing was changed: {change.get('stream') or change['account']} now loses {loss}, and the"
                f" plan says {announced}",
                PLAN_AGAIN,
            )


def _strip(document: Any) -> Any:
    """Return a plan's document without what moves on while streams are in use."""
    stripped: Json = {**document, "changes": _strip_losses(document.get("changes", ())), "warnings": []}
    if auth := document.get("auth"):
        from jsctl.auth.resolver import REMOVED

        # What accounts hold that servers will not have any more is among the losses, too.
        pushed = [
            {**push, "changes": []} if push["state"] == REMOVED else push for push in auth.get("push", ())
        ]
        stripped["auth"] = {**auth, "changes": _strip_losses(auth["changes"]), "push": pushed}
    return parse_json(json.dumps(stripped))


def _strip_losses(changes: Iterable[Json]) -> list[Json]:
    return [
        {
            **{key: value for key, value in change.items() if key not in _LEFT_OUT},
            "names": _list_names(change),
        }
        for change in changes
    ]


def _pair_losing(planned: Any, document: Any) -> Iterator[tuple[Json, Json]]:
    """Yield the changes that say what they delete, of a plan and as they are now."""
    changes, now = (
        [*each.get("changes", ()), *(each.get("auth") or {}).get("changes", ())]
        for each in (planned, document)
    )
    return ((old, new) for old, new in zip(changes, now, strict=True) if "deletes_precision" in new)


def _list_names(change: Mapping[str, Any]) -> list[str]:
    return [note.partition(":")[0] for note in change.get("notes", ())] if not change.get("consumer") else []


def _read_loss(change: Mapping[str, Any]) -> DataLoss:
    precision = Precision(change["deletes_precision"])
    return DataLoss(change["deletes_messages"] or 0, change["deletes_bytes"] or 0, precision)
