"""What servers would refuse of a plan, found before the first step is done: overlapping subjects, replicas
without servers, limits of the account (server: stream.go checkStreamCfg, jetstream_cluster.go, jetstream.go;
tried on 2.15)."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsctl.base.loops import gather
from jsctl.base.units import MS, format_bytes
from jsctl.errors import JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.declared.step import Step, get_subjects
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import overlaps

_LEAST_AGE = 100 * MS  #: ns
_MAX_REPLICAS = 5


async def refuse_impossible(steps: Sequence[Step]) -> list[Step]:
    """Return the steps, those that servers would refuse with the reason by key."""
    places: dict[Any, list[Step]] = {}
    for step in steps:
        places.setdefault(step.target.key, []).append(step)
    refusals = await gather(map(_find_refusals, places.values()))
    by_key = {key: reasons for place in refusals for key, reasons in place.items()}
    return [step._replace(refused={**by_key.get(step.key, {}), **step.refused}) for step in steps]


async def _find_refusals(steps: Sequence[Step]) -> dict[Any, dict[str, str]]:
    """Return why the server of a place would refuse steps, by step and key."""
    target = steps[0].target
    refusals: dict[Any, dict[str, str]] = {}
    changed = [step for step in steps if step.after is not None and not step.consumer and not step.part]
    others = {} if target.is_missing else await _find_overlaps(target.api, steps, changed)
    creates = any(step.action == "create" for step in steps)
    account = await api_levels.fetch_account_info(target.api) if creates and not target.is_missing else {}
    alone = not target.is_missing and _is_unclustered(target.api)
    for step in changed:
        reasons = dict(_check_config(step.after or {}, is_alone=alone))
        if other := others.get(step.stream):
            reasons["subjects"] = f"overlap with those of stream {other}"
        reasons |= _check_limits(step, account)
        if reasons:
            refusals[step.key] = reasons
    creations = [step for step in changed if step.action == "create"]
    for step, reason in _check_totals(creations, account):
        refusals.setdefault(step.key, {})["name"] = reason
    return refusals


def _check_config(config: Json, *, is_alone: bool) -> Iterator[tuple[str, str]]:
    """Yield keys that the server refuses, with the reason. is_alone: whether it is in no cluster."""
    subjects = config.get("subjects") or []
    for first, second in itertools.combinations(subjects, 2):
        if overlaps(first, second):
            yield "subjects", f"{first} and {second} overlap"
    replicas = int(config.get("num_replicas") or 1)
    if replicas > _MAX_REPLICAS:
        yield "num_replicas", f"is at most {_MAX_REPLICAS}"
    elif replicas > 1 and is_alone:
        yield "num_replicas", "the server is in no cluster"
    for key in ("max_age", "duplicate_window"):
        if 0 < int(config.get(key) or 0) < _LEAST_AGE:
            yield key, "must be 100ms or more"


async def _find_overlaps(api: Api, steps: Sequence[Step], changed: Sequence[Step]) -> dict[str, str]:
    """Return by stream another one with an overlapping subject, of the plan or on the server."""
    overlapping: dict[str, str] = {}
    planned = {step.stream: step for step in steps if not step.consumer and not step.part}
    claiming = [step for step in changed if _list_new_subjects(step)]
    for step in claiming:
        for other in changed:
            pairs = itertools.product(get_subjects(step.after), get_subjects(other.after))
            if other.stream != step.stream and any(overlaps(first, second) for first, second in pairs):
                overlapping[step.stream] = other.stream

    async def ask(step: Step) -> None:
        for subject in _list_new_subjects(step):
            try:
                names = await streams.list_names(api, subject)
            except JsctlError:
                return  # the login may not ask; the server says it later
            # What the plan changes was compared above.
            if others := [name for name in names if name not in planned and name != step.stream]:
                overlapping.setdefault(step.stream, others[0])

    await gather(ask(step) for step in claiming if step.stream not in overlapping)
    return overlapping


def _list_new_subjects(step: Step) -> list[str]:
    before = get_subjects(step.before)
    return [subject for subject in get_subjects(step.after) if subject not in before]


def _is_unclustered(api: Api) -> bool:
    """Return whether the connected server is the one that answers, and is in no cluster."""
    info = api.connection.server_info
    return not info.get("cluster") and api.own_domain == str(info.get("domain") or "")


def _get_tier(account: Json, config: Json) -> Json:
    """Return limits and usage for a stream: those of its tier, where the account has tiers."""
    tiers: Mapping[str, Json] = account.get("tiers") or {}
    return tiers.get(f"R{int(config.get('num_replicas') or 1)}", account if not tiers else {})


def _check_limits(step: Step, account: Json) -> dict[str, str]:
    """Return what one stream has too much of for its account."""
    config = step.after or {}
    limits = _get_tier(account, config).get("limits") or {}
    kind = "memory" if config.get("storage") == "memory" else "storage"
    most, size = int(limits.get(f"{kind}_max_stream_bytes") or -1), int(config.get("max_bytes") or -1)
    if limits.get("max_bytes_required") and size <= 0:
        return {"max_bytes": "is needed: the account requires it of every stream"}
    if 0 < most < size:
        return {"max_bytes": f"the account allows {format_bytes(most)} a stream"}
    return {}


def _check_totals(creations: Sequence[Step], account: Json) -> Iterator[tuple[Step, str]]:
    """Yield the creations for which the account has no more streams or bytes."""
    count: dict[str, int] = {}
    for step in creations:
        config = step.after or {}
        tier = _get_tier(account, config)
        limits = tier.get("limits") or {}
        name = f"R{config.get('num_replicas') or 1}" if account.get("tiers") else ""
        count[name] = count.get(name, 0) + 1
        most = int(limits.get("max_streams") or -1)
        if 0 < most < int(tier.get("streams") or 0) + count[name]:
            yield step, f"the account has at most {most} streams"
            continue
        kind = "memory" if config.get("storage") == "memory" else "storage"
        reserved = f"{name}{kind}"
        count[reserved] = count.get(reserved, 0) + max(0, int(config.get("max_bytes") or 0))
        most = int(limits.get(f"max_{kind}") or -1)
        if 0 < most < int(tier.get(f"reserved_{kind}") or 0) + count[reserved]:
            yield step, f"the account has {format_bytes(most)} of {kind}, reserved for other streams"
