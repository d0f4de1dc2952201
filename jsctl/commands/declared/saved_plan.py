"""Plans in files: `diff --out FILE` writes one, `apply FILE` carries out just that, or nothing.

A plan holds the texts of the declared files and the document that `diff --json` showed. `apply` compares
again, and refuses when the result is another one.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsctl.base.files import read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.user_folders import expand_home
from jsctl.commands.declared.sources import Sources
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Json
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

_SOURCE_KEYS = ("texts", "var", "store", "prune", "push", "take_ownership", "unprotect", "targets")
_SIZE = 256 << 20  #: bytes

PLAN_AGAIN = "make it again with diff --out"


def write_plan(path: str, sources: Sources, document: Any) -> None:
    """Write a plan, readable by its owner only: files may hold addresses with passwords. Raises BadInput."""
    content = {
        "type": _FORM,
        "sources": {key: getattr(sources, key) for key in _SOURCE_KEYS},
        "plan": document,
    }
    target = expand_home(path)
    try:
        write_atomically(target, json.dumps(content, indent=2) + "\n")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None


def read_plan(path: str) -> tuple[Sources, Any]:
    """Return the sources and the document of a plan. Raises BadInput."""
    try:
        content = parse_json(read_text(expand_home(path), "", _SIZE))
        if content["type"] != _FORM:
            raise ValueError
        sources = content["sources"]
        texts = tuple((str(name), str(text)) for name, text in sources["texts"])
        names = {key: tuple(sources[key]) for key in ("var", "unprotect", "targets")}
        return Sources(**{**sources, **names, "texts": texts}), content["plan"]
    except (ValueError, KeyError, TypeError):
        raise BadInput(
            f"{path} is not a plan", "jsctl diff --out FILE writes one; -f names declared files"
        ) from None


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
        raise JsctlError(
            "nothing was changed: the plan is stale, as servers, contexts or values have changed since",
            PLAN_AGAIN,
        )
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
        {**{key: value for key, value in change.items() if key not in _LOSSES}, "names": _list_names(change)}
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
