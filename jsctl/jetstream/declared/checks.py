"""What servers would refuse of a plan for what else they hold or are: overlapping subjects, replicas without
servers, limits of the account, features of newer servers. What they refuse of a configuration by itself is
tried on a server (see `trial`).

Server: stream.go, jetstream_cluster.go, jetstream.go; tried on 2.15.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from jsctl.base.loops import gather
from jsctl.base.units import format_bytes
from jsctl.errors import JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.step import Key, Step, get_storage, get_subjects, group_by_place
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM
from jsctl.nats.subject_tree import SubjectTree

_MAX_REPLICAS = 5
_MAX_QUESTIONS = 64
"""Subjects up to which the server is asked who has each of them; beyond that, all streams are listed."""

Refusals = dict[Key, dict[str, str]]
"""By step, why the server would refuse it, by key of its configuration."""


async def refuse_impossible(steps: Sequence[Step], accounts: Mapping[int, Json]) -> list[Step]:
    """Return the steps, those that servers would refuse with the reason by key. accounts: limits and usage,
    by place; empty where the login may not ask."""
    groups = group_by_place(steps)
    found = await gather(_find_refusals(group, accounts[key]) for key, group in groups.items())
    refusals = {key: reasons for place in found for key, reasons in place.items()}
    return [step._replace(refused={**refusals.get(step.key, {}), **step.refused}) for step in steps]


async def fetch_accounts(steps: Sequence[Step], planned: Mapping[str, Json]) -> dict[int, Json]:
    """Return the limits and the usage of the account of each place (see `api_levels.fetch_account_info`).
    planned: limits that accounts will have, by the name that a place has for its account."""
    targets = {step.target.key: step.target for step in steps}
    infos = await gather(
        api_levels.fetch_account_info(target.api) for target in targets.values() if not target.is_missing
    )
    present = [key for key, target in targets.items() if not target.is_missing]
    live = dict(zip(present, infos, strict=True))
    return {
        key: _merge(live.get(key, {}), planned.get(target.account, {})) for key, target in targets.items()
    }


def _merge(live: Json, planned: Json) -> Json:
    """Return the usage of an account with the limits that it will have."""
    if "tiers" not in planned:
        return {**live, **planned}
    used = live.get("tiers") or {}
    return {
        **live,
        "tiers": {name: {**used.get(name, {}), **tier} for name, tier in planned["tiers"].items()},
    }


async def _find_refusals(steps: Sequence[Step], account: Json) -> Refusals:
    """Return why the server of a place would refuse steps."""
    target = steps[0].target
    refusals: Refusals = {}

    def refuse(step: Step, key: str, reason: str) -> None:
        refusals.setdefault(step.key, {})[key] = reason

    changed = [step for step in steps if step.after is not None and not step.consumer and not step.part]
    overlaps = await _find_overlaps(target.api, steps, changed)
    alone = not target.is_missing and is_unclustered(target.api)
    for step in changed:
        if overlap := overlaps.get(step.stream):
            refuse(step, "subjects", overlap)
        replicas = int((step.after or {}).get("num_replicas") or 1)
        if replicas > _MAX_REPLICAS:
            refuse(step, "num_replicas", f"is at most {_MAX_REPLICAS}")
        elif replicas > 1 and alone:
            refuse(step, "num_replicas", "the server is in no cluster")
        elif replicas > 1 and (step.after or {}).get("persist_mode") == "async":
            refuse(step, "persist_mode", "async is for streams with one replica")
        elif replicas > 1 and ">" in get_subjects(step.after):
            refuse(step, "subjects", "> is for streams with one replica")
    for step, key, reason in (*_check_totals(changed, account), *_check_levels(steps, account)):
        refuse(step, key, reason)
    return refusals


def _check_levels(steps: Sequence[Step], account: Json) -> Iterator[tuple[Step, str, str]]:
    """Yield the steps that need a newer server, with the key and the reason."""
    if not (known := account.get("api")):
        return  # the login may not ask
    for step in steps:
        schema = CONSUMER if step.consumer else STREAM
        for level, flags in schema.find_needed_levels(step.after or {}).items():
            if level > int(known.get("level", 0)):  # servers before 2.11 report none
                version = api_levels.find_server_version(level)
                for flag in flags:
                    key = schema.by_flag[flag.removeprefix("--")].key
                    yield step, key, f"needs nats-server {version}"


async def _find_overlaps(api: Api, steps: Sequence[Step], changed: Sequence[Step]) -> dict[str, str]:
    """Return by stream which of its subjects overlaps with another one, of the plan or on the server."""
    known: dict[str, Sequence[str]] = {step.stream: get_subjects(step.after) for step in changed}
    claims = {step.stream: new for step in changed if (new := _list_new_subjects(step))}
    planned = {step.stream for step in steps if not step.consumer and not step.part}
    asked = claims if not steps[0].target.is_missing else {}
    if sum(map(len, asked.values())) > _MAX_QUESTIONS:
        known |= {name: subjects for name, subjects in await _list_subjects(api) if name not in planned}
        asked = {}
    tree = SubjectTree[str]()
    for name, subjects in known.items():
        for subject in subjects:
            tree.add(subject, name)
    overlapping: dict[str, str] = {}
    for stream, subjects in claims.items():
        found = ((subject, other) for subject in subjects for other in tree.find(subject) if other != stream)
        for subject, other in islice(found, 1):
            overlapping[stream] = streams.format_overlap(subject, other, known[other])

    async def ask(stream: str, subject: str) -> None:
        # What the plan changes was compared above.
        if overlap := await streams.describe_overlap(api, [subject], but=planned | {stream}):
            overlapping.setdefault(stream, overlap)

    await gather(ask(stream, subject) for stream, subjects in asked.items() for subject in subjects)
    return overlapping


async def _list_subjects(api: Api) -> Sequence[tuple[str, Sequence[str]]]:
    """Return all streams with their subjects; none if the login may not list them."""
    try:
        listed = await streams.collect(api, lambda info: get_subjects(info["config"]))
    except JsctlError:
        return ()
    return list(listed.items.items())


def _list_new_subjects(step: Step) -> list[str]:
    before = {*get_subjects(step.before)}
    return [subject for subject in get_subjects(step.after) if subject not in before]


def is_unclustered(api: Api) -> bool:
    """Return whether the connected server is the one that answers, and is in no cluster: that of a leaf node
    has its own name."""
    info = api.connection.server_info
    is_alone = info.get("cluster") in (None, "", info.get("server_name"))
    is_alone = is_alone and len(info.get("connect_urls") or ()) < 2
    return is_alone and api.own_domain == str(info.get("domain") or "")


def get_tier(account: Json, config: Json) -> tuple[str, Json]:
    """Return the name of the tier that a stream counts for, empty if the account has none, and its limits and
    usage."""
    tiers: Mapping[str, Json] = account.get("tiers") or {}
    name = f"R{int(config.get('num_replicas') or 1)}" if tiers else ""
    return name, tiers.get(name, {}) if tiers else account


def _check_totals(changed: Sequence[Step], account: Json) -> Iterator[tuple[Step, str, str]]:
    """Yield the steps for which the account has no more streams or bytes, with the key and the reason
    (server: jetstream.go checkAllLimits)."""
    counts: dict[tuple[str, str], int] = {}
    for step in changed:
        config = step.after or {}
        name, tier = get_tier(account, config)
        limits = tier.get("limits") or {}

        def count(key: str, more: int, name: str = name, tier: Json = tier) -> int:
            counts[name, key] = counts.get((name, key), int(tier.get(key) or 0)) + more
            return counts[name, key]

        is_new = step.before is None or get_tier(account, step.before)[0] != name
        most = int(limits.get("max_streams", -1))
        if is_new and 0 <= most < count("streams", 1):
            yield step, "name", f"the account has at most {most} streams"
            continue
        kind = "memory" if get_storage(step) == "memory" else "storage"
        most = int(limits.get(f"max_{kind}", -1))
        has_size = int(config.get("max_bytes") or 0) > 0
        sizes = [
            max(0, int(each.get("max_bytes") or 0)) * (1 if name else int(each.get("num_replicas") or 1))
            for each in (config, {} if is_new else step.before or {})
        ]
        reserved = count(f"reserved_{kind}", max(0, sizes[0] - sizes[1]))
        if 0 <= most < reserved + (not has_size):
            whole = f"{format_bytes(most)} of {kind}, reserved for other streams" if most else f"no {kind}"
            yield step, "max_bytes" if has_size else "storage", f"the account has {whole}"
