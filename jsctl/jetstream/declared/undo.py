"""What a failed apply has done, taken back: the last deed first, so that a plan is carried out as a whole or
not at all.

What was removed cannot be given back, and removals come last: once there was one, everything else stays, too.
"""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.base.units import pluralize
from jsctl.errors import JsctlError, Unreachable
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.compare import fetch_consumer, fetch_stream
from jsctl.jetstream.declared.contents import CONTENTS
from jsctl.jetstream.declared.step import Key, Step
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM


class Deed(NamedTuple):
    """A step that was done. step: as it was sent. info: what the server answered, if it was an info."""

    step: Step
    info: Json | None = None


async def undo(deeds: Sequence[Deed]) -> dict[Key, str]:
    """Take back what was done; return why a step was not. Raises nothing."""
    if any(deed.step.action == "remove" for deed in deeds):
        reason = "stays, as something was removed already"
        return {deed.step.key: "" if deed.step.action == "remove" else reason for deed in deeds}
    stays: dict[Key, str] = {}
    silent = ""
    for deed in reversed(deeds):
        reason = silent
        if not silent:
            try:
                reason = await _undo(deed)
            except Unreachable as error:
                reason = silent = error.message
            except JsctlError as error:
                reason = error.message
        if reason:
            stays[deed.step.key] = f"stays: {reason}"
    return stays


async def _undo(deed: Deed) -> str:
    """Take one deed back; return why not, empty if it was. Raises JsctlError."""
    step, api = deed.step, deed.step.target.api
    if step.is_content:
        await CONTENTS[step.part].take_back(step)
    elif step.action == "create" and step.consumer:
        if await fetch_consumer(step.target, step.stream, step.consumer) is not None:
            await consumers.delete(api, step.stream, step.consumer)
    elif step.action == "create":
        return await _remove_stream(deed)
    elif step.consumer:
        if (info := await fetch_consumer(step.target, step.stream, step.consumer)) is None:
            return "the consumer does not exist any more"
        config = _restore(step, CONSUMER.without_server_keys(info["config"]))
        await consumers.update(api, step.stream, config)
        if until := config.get("pause_until"):
            await consumers.pause(api, step.stream, step.consumer, until)
        elif (step.after or {}).get("pause_until"):
            await consumers.resume(api, step.stream, step.consumer)
    else:
        if (info := await fetch_stream(step.target, step.stream)) is None:
            return "the stream does not exist any more"
        await streams.update(api, _restore(step, STREAM.without_server_keys(info["config"])))
    return ""


async def _remove_stream(deed: Deed) -> str:
    """Remove a stream that was created, unless somebody has stored something in it."""
    step = deed.step
    info = await fetch_stream(step.target, step.stream)
    if info is None:
        return ""
    if deed.info and deed.info.get("created") != info.get("created"):
        return "somebody else has made it again"
    state = info["state"]
    old = await fetch_stream(step.target, step.other_name) if step.other_name else None
    if int(state["messages"]) and (old is None or int(state["last_seq"]) > int(old["state"]["last_seq"])):
        return f"it has {pluralize(int(state['messages']), 'message')} by now"
    await streams.delete(step.target.api, step.stream)
    return ""


def _restore(step: Step, live: Json) -> Json:
    """Return a live configuration with what a step changed as it was before."""
    before, after = step.before or {}, step.after or {}
    changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
    kept = {key: value for key, value in live.items() if key not in changed}
    return {**kept, **{key: value for key, value in before.items() if key in changed}}
