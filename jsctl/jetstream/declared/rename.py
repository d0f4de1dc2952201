"""`renamed_from`: a stream is copied with its messages and consumers, the copy is verified, then the old one
is removed.

The old stream releases its subjects first (`handover`), so that the copy is complete. A run that was killed
is continued by the next one.
"""

from contextlib import AbstractContextManager, nullcontext

from jsctl.base.units import pluralize
from jsctl.errors import BadInput, JsctlError, raise_all
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup.copy import CopyOptions, copy_stream
from jsctl.jetstream.backup.copy_transfer import Endpoint
from jsctl.jetstream.backup.events import Advance, Event, Phase, Question
from jsctl.jetstream.config.kind import is_copying
from jsctl.jetstream.config.origins import list_origins
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.declared.compare import (
    Rules,
    collect,
    compare_consumer,
    compare_stream,
    fetch_consumers,
    fetch_stream,
    plan_stream_removal,
)
from jsctl.jetstream.declared.handover import RELEASED
from jsctl.jetstream.declared.model import Stream, get_label
from jsctl.jetstream.declared.step import Step, Target
from jsctl.jetstream.message.change_estimate import estimate_stream_loss
from jsctl.jetstream.message.data_loss import NOTHING, DataLoss, Precision
from jsctl.jetstream.state import get_mark
from jsctl.jetstream.stream.config import STREAM

_PASSED = "which consumers have passed: deliver or remove these first (jsctl consumer reset, stream rmm)"


async def plan_rename(stream: Stream, target: Target, rules: Rules) -> list[Step | None] | None:
    """Return the steps for a stream that has another name so far, and for its consumers; None if there is no
    stream of that name any more."""
    old = await fetch_stream(target, stream.renamed_from)
    if old is None:
        return None
    new = await fetch_stream(target, stream.name)
    removal = await plan_stream_removal(target, old, get_label(old["config"]), rules)
    removal = removal._replace(
        position=stream.position, loss=NOTHING, allows_loss=True, other_name=stream.name
    )
    owned = rules.find_other_owner(stream.label, old["config"])
    removal = removal._replace(refused={**removal.refused, **owned})
    if new is not None and not get_mark(new):
        return [compare_stream(stream, target, new, rules), _finish(removal, stream, old, new)]
    as_new = {**old, "config": {**old["config"], "name": stream.name, "subjects": _get_subjects(stream, old)}}
    errors: list[BadInput] = []
    compared = collect(errors, compare_stream, stream, target, as_new, rules)
    infos = await fetch_consumers(stream.consumers, stream.renamed_from, target, old)
    consumer_steps = [
        collect(errors, compare_consumer, consumer, stream.renamed_from, target, info, rules)
        for consumer, info in zip(stream.consumers, infos, strict=True)
    ]
    raise_all(errors)
    before = STREAM.without_server_keys(as_new["config"])
    after = {**(compared.after if compared and compared.after else before), "name": stream.name}
    step = Step("create", target, stream.name, "", stream.position, None, after, item=stream)
    step = step._replace(changes=compared.changes if compared else (), other_name=stream.renamed_from)
    # A copy holds what its configuration keeps, also where it refuses what is new, or is sealed when all is
    # there; consumers come after it.
    loss = await estimate_stream_loss(target.api, old, {**after, "discard": "old", "sealed": False})
    refused = {**(compared.refused if compared else {}), **owned, **_refuse(old, loss)}
    if after.get("retention") not in (None, "limits") and not loss:
        # It does not keep what nobody needs, also where the old one does.
        unneeded = {**old, "config": {**old["config"], "retention": "limits"}}
        loss = await estimate_stream_loss(target.api, unneeded, after)
        if after["retention"] == "interest":
            refused |= await _refuse_unreceived(target.api, stream.renamed_from)
            step = step._replace(loss=loss, together=loss, allows_loss=stream.allows_data_loss)
        elif loss and loss.precision is Precision.EXACT:  # what may be lost, the copy is refused for
            refused.setdefault("name", f"the copy would lack {loss}, {_PASSED}")
    step = step._replace(refused=refused)
    renamed = [each and each._replace(stream=stream.name) for each in consumer_steps]
    return [step, *renamed, removal]


def _get_subjects(stream: Stream, old: Json) -> list[str]:
    """Return the subjects of the old stream; those that the file says if it has released them."""
    subjects: list[str] = list(old["config"].get("subjects") or [])
    if subjects != [f"{RELEASED}{stream.renamed_from}"]:
        return subjects
    return list(stream.config.get("subjects") or subjects)


def _refuse(old: Json, loss: DataLoss) -> dict[str, str]:
    """Return why a stream cannot be copied under another name."""
    if list_origins(old["config"]):
        return {"name": "a mirror, or a stream with sources, is created again: leave out renamed_from"}
    if loss:
        return {"name": f"the copy would lack {loss}: rename first, then change what deletes them"}
    return {}


async def _refuse_unreceived(api: Api, old: str) -> dict[str, str]:
    """Return why an interest stream cannot be copied while others have still to receive messages of it: the
    copy has no consumers for them, and keeps none of these."""
    for info in (await consumers.list_consumers(api, old)).infos:
        count = int(info.get("num_pending", 0)) + int(info.get("num_ack_pending", 0))
        if is_copying(info["config"]) and count:
            name = (info["config"]["metadata"] or {}).get("_nats.src.stream") or "a mirror"
            waiting = pluralize(count, "message")
            return {"name": f"{name} has not acknowledged {waiting} yet: rename after that"}
    return {}


def _finish(removal: Step, stream: Stream, old: Json, new: Json) -> Step:
    """Return the removal of the old stream where the copy is complete already; refused if both are in use."""
    released = [f"{RELEASED}{stream.renamed_from}"]
    complete = int(new["state"]["last_seq"]) >= int(old["state"]["last_seq"])
    if old["config"].get("subjects") == released and complete:
        return removal
    reason = f"{stream.name} exists, too: leave out renamed_from, or remove one of them"
    return removal._replace(refused={**removal.refused, "name": reason})


async def copy_renamed(step: Step) -> None:
    """Copy a stream under its new name, with its consumers, and compare all messages. Raises JsctlError."""
    api = step.target.api
    source, target = Endpoint(api, step.other_name), Endpoint(api, step.stream)
    config = step.after or {}
    copy = await copy_stream(source, target, config, CopyOptions(consumers=True), _Observer())
    # Messages that are lacking for another reason than their age would be lost with the old stream.
    may_lack = config.get("max_age") or config.get("allow_msg_ttl") or config.get("retention") == "interest"
    if copy.failed or (copy.warnings and not may_lack):
        raise JsctlError(
            f"the copy of {step.other_name} is not equal to it, and both stay",
            "see jsctl stream copy --data",
        )


class _Observer:
    """An observer that shows nothing, and permits nothing."""

    def notify(self, event: Event) -> None:
        return

    async def confirm(self, question: Question) -> None:
        raise BadInput(
            "the stream with the new name was left by an unfinished copy or restore",
            "remove that stream, then apply again",
        )

    def progress(self, phase: Phase, total: int) -> AbstractContextManager[Advance]:
        return nullcontext(lambda count: None)
