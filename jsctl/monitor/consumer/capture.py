"""A stream that stores the advisories on what consumers give up, so that it is known when and why."""

from typing import NamedTuple

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer.dead_letters import list_capture_subjects
from jsctl.nats.subjects import covers

NAME = "DEAD_LETTERS"
ADVISORY_SIZE = 500
"""Bytes that an advisory takes in a store, about: 330 to 420 of JSON, its subject, and what a file adds."""


class CapturePlan(NamedTuple):
    """What would be declared. config: of the stream; None if all is captured already, by `existing`. is_new:
    whether the stream does not exist yet."""

    subjects: list[str]
    existing: list[str]
    config: Json | None = None
    is_new: bool = False


async def plan_capture(api: Api, stream: str, consumer: str, *, max_age: int, max_bytes: int) -> CapturePlan:
    """Plan what captures a consumer's advisories. stream, consumer: empty for all. max_age: ns."""
    prefix = api.connection.settings.js_event_prefix
    subjects = list_capture_subjects(prefix, stream or "*", consumer or "*")
    existing, missing = dict[str, None](), list[str]()
    for subject in subjects:
        for name in await streams.list_names(api, subject):
            info = await streams.fetch_info(api, name)
            if any(covers(each, subject) for each in info["config"].get("subjects") or []):
                existing[name] = None
                break
        else:
            missing.append(subject)
    if not missing:
        return CapturePlan(subjects, list(existing))
    present = await streams.fetch_info_or_none(api, NAME)
    if present is not None:
        kept = [
            one
            for one in present["config"].get("subjects") or []
            if not any(covers(each, one) for each in missing)
        ]
        config = {**present["config"], "subjects": [*kept, *missing]}
        return CapturePlan(missing, list(existing), config)
    if stream:
        replicas = _get_replicas(await streams.fetch_info(api, stream))
    else:  # those of the most replicated stream: what it captures must not be lost earlier than that
        replicas = max((await streams.collect(api, _get_replicas)).items.values(), default=1)
    config = {
        "name": NAME,
        "description": "Advisories on messages that consumers gave up",
        "subjects": missing,
        "retention": "limits",
        "discard": "old",
        "storage": "file",
        "max_age": max_age,
        "max_bytes": max_bytes,
        "num_replicas": replicas,
        "allow_direct": True,
    }
    return CapturePlan(missing, list(existing), config, is_new=True)


def _get_replicas(info: Json) -> int:
    return int(info["config"].get("num_replicas") or 1)


async def apply_capture(api: Api, config: Json, *, is_new: bool) -> Json:
    """Create or update the stream of a plan; return its info."""
    if is_new:
        return (await streams.create(api, config))[0]
    return await streams.update(api, config)
