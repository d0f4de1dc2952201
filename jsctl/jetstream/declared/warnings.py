"""What servers accept in a plan, and people hardly mean: found before anything is sent."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from jsctl.base.loops import gather
from jsctl.errors import ApiError, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import domain_to_api, list_origin_filters, list_origins
from jsctl.jetstream.consumer.availability import list_unmatched
from jsctl.jetstream.consumer.config import find_warnings as find_consumer_warnings
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.declared.model import Stream, find_bucket_kind
from jsctl.jetstream.declared.step import Step, get_subjects
from jsctl.jetstream.message.held import find_change_warnings, warn_of_ids
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import find_warnings
from jsctl.nats.error_codes import ErrorCode

_MAX_PARALLEL = 16
_UNFINISHED = frozenset(("mirror", "num_replicas", "allow_msg_schedules", "discard", "max_msgs", "max_bytes"))
"""Keys whose change a server does not apply to all that a stream has."""


async def find_plan_warnings(steps: Sequence[Step]) -> list[str]:
    """Return the warnings about the steps that create or change something, each with its position.

    Asks servers for the origins of mirrors and sources that no step creates, and for the streams whose
    consumers change.
    """
    by_key = {step.key: step for step in steps}
    by_name: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        if not step.consumer and step.after is not None and not step.part:
            by_name[step.stream].append(step)
    changed = [step for step in steps if step.after is not None and not step.part]
    slots = asyncio.Semaphore(_MAX_PARALLEL)

    async def find(step: Step) -> list[str]:
        async with slots:
            if not step.consumer:
                changes = await _warn_of_changes(step)
                return [*_iterate_warnings(step), *changes, *await _warn_of_origins(step, by_name)]
            lines = find_consumer_warnings(step.after or {}) if step.action == "create" else []
            if not any(change.key.startswith("filter_subject") for change in step.changes):
                return lines
            stream = by_key.get((step.target.key, step.stream, "", ""))
            config = stream.after if stream else await _fetch_config(step)
            return [*lines, *_warn_of_filters(get_filters(step.after or {}), config or {})]

    texts = await gather(map(find, changed))
    return [
        f"{step.position}: {step.format_name()}: {text}"
        for step, lines in zip(changed, texts, strict=True)
        for text in lines
    ]


def _iterate_warnings(step: Step) -> Iterator[str]:
    after, before = step.after or {}, step.before or {}
    yield from find_warnings(after, step.target.domain)
    old = step.item.renamed_from if isinstance(step.item, Stream) else ""
    if old and step.action == "create" and not step.other_name:
        yield f"renamed_from: there is no stream {old} here, so {step.stream} begins empty"
    if after.get("sealed") and not before.get("sealed"):
        yield "sealed: true is final: the stream takes no message and no change any more"
    kind = find_bucket_kind(step.stream)
    lost = [subject for subject in get_subjects(before) if subject not in get_subjects(after)]
    if kind and not step.kind and lost:
        yield (
            f"{kind.noun} {kind.stream_to_bucket(step.stream)} loses {', '.join(lost)}, without which clients"
            " cannot write to it"
        )


async def _warn_of_changes(step: Step) -> list[str]:
    """Return what the server leaves undone when a stream changes, or is copied under another name."""
    if step.after is None or not (
        step.other_name or (step.before is not None and step.changed_keys & _UNFINISHED)
    ):
        return []
    try:
        info = await streams.fetch_info(step.target.api, step.other_name or step.stream)
    except JsctlError:
        return []
    if step.other_name:
        return warn_of_ids({**info, "config": step.after})
    return await find_change_warnings(step.target.api, info, step.after)


async def _warn_of_origins(step: Step, by_name: Mapping[str, Sequence[Step]]) -> list[str]:
    """Return warnings about mirrors and sources of streams that do not exist, or that store nothing of what
    their filters name."""
    if step.changed_keys.isdisjoint(("mirror", "sources")):
        return []
    texts: list[str] = []
    for origin in list_origins(step.after or {}):
        config = await _find_origin(step, origin, by_name)
        if config is None:
            texts.append(f"{origin['name']} does not exist, so nothing is copied from it")
            continue
        texts += _warn_of_filters(list_origin_filters(origin), config)
        kept = config.get("allow_msg_ttl") and not (step.after or {}).get("allow_msg_ttl")
        if kept and find_bucket_kind(step.stream):
            texts.append(
                f"keys that expire in {origin['name']} stay in this copy: extra: {{allow_msg_ttl: true}}"
                " lets them expire here, too"
            )
    return texts


async def _find_origin(step: Step, origin: Json, by_name: Mapping[str, Sequence[Step]]) -> Json | None:
    """Return the configuration of an origin, as it will be; None if a server says that it does not exist, and
    an empty one if nobody can be asked. Origins of other accounts are not asked for."""
    name, prefix = str(origin["name"]), str((origin.get("external") or {}).get("api") or "")
    for other in by_name.get(name, ()):
        same_place = other.target.key == step.target.key
        if same_place if not prefix else prefix == domain_to_api(other.target.domain):
            return other.after
    if prefix and not prefix.startswith("$JS."):
        return {}
    api = Api(step.target.api.connection, prefix=prefix) if prefix else step.target.api
    try:
        config: Json = (await streams.fetch_info(api, name))["config"]
    except ApiError as error:
        return None if error.err_code == ErrorCode.STREAM_NOT_FOUND else {}
    except JsctlError:
        return {}  # nobody answers for that domain here, or this login may not ask
    return config


async def _fetch_config(step: Step) -> Json | None:
    """Return the configuration of a consumer's stream; None if it cannot be had."""
    try:
        config: Json = (await streams.fetch_info(step.target.api, step.stream))["config"]
    except JsctlError:
        return None
    return config


def _warn_of_filters(filters: Sequence[str], stream: Json) -> Iterator[str]:
    for subject in list_unmatched(filters, stream):
        yield f"the filter {subject} matches none of the subjects of stream {stream['name']}"
