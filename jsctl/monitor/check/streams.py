"""Checks of streams, messages, consumers, buckets and an account's use of JetStream.

Thresholds are by the name of their flag; spans are ns. Those that the command line leaves out come from
metadata of the stream or consumer: `io.nats.monitor.lag-critical` (natscli: server check stream).
"""

from collections.abc import Iterator, Mapping

from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.check.outcome import Check
from jsctl.patterns import compile_pattern
from jsctl.units import SECOND, compute_age, format_duration, parse_duration, parse_time_ns, pluralize

_METADATA = "io.nats.monitor."
ENABLED, PINNED = f"{_METADATA}enabled", f"{_METADATA}pinned"
"""Keys of metadata: whether `audit analyze` checks the stream or consumer, and whether each group of a
consumer must have a pinned client.
"""
_SPANS = frozenset({"seen-critical", "peer-seen-critical", "last-delivery-critical", "last-ack-critical"})

Limits = Mapping[str, float]


def with_metadata(limits: Limits, config: Json) -> dict[str, float]:
    """Return the thresholds of flags, and those in metadata for which there is no flag.

    Raises BadInput for metadata that is not a number or a span.
    """
    declared: dict[str, float] = {}
    for key, text in (config.get("metadata") or {}).items():
        name = key.removeprefix(_METADATA)
        if name == key or text in ("true", "false"):
            continue
        try:
            declared[name] = parse_duration(text) if name in _SPANS else float(text)
        except ValueError:
            raise BadInput(f"metadata {key} is {text!r}", "it should be a number or a duration") from None
    return {**declared, **limits}


async def check_stream(api: Api, name: str, flags: Limits) -> Check:
    """Check mirror, sources, replicas, messages and subjects of a stream. Raises JsctlError."""
    return check_stream_info(await streams.fetch_info(api, name), name, flags)


def check_stream_info(info: Json, name: str, flags: Limits) -> Check:
    """Check a stream by its info. Raises BadInput for metadata that is not valid."""
    limits = with_metadata(flags, info["config"])
    check = Check("stream", name)
    _check_origins(check, info, limits)
    _check_peers(check, info.get("cluster") or {}, limits)
    state = info["state"]
    messages, subjects = state["messages"], state.get("num_subjects", 0)
    warn, critical = limits.get("msgs-warn"), limits.get("msgs-critical")
    check.measure("messages", messages, "messages", low_is_bad=True, warn=warn, critical=critical)
    warn, critical = limits.get("subjects-warn"), limits.get("subjects-critical")
    check.measure("subjects", subjects, "subjects", warn=warn, critical=critical)
    return check


def _check_origins(check: Check, info: Json, limits: Limits) -> None:
    origins = [info["mirror"]] if info.get("mirror") else info.get("sources") or []
    if not info.get("mirror"):
        check.measure("sources", len(origins), "sources")
    if not info.get("mirror") and ("min-sources" in limits or "max-sources" in limits):
        minimum, maximum = limits.get("min-sources", 0), limits.get("max-sources", float("inf"))
        text = pluralize(len(origins), "source")
        check.require(
            minimum <= len(origins) <= maximum, text, f"{text}, expected {minimum:g} to {maximum:g}"
        )
    for origin in origins:
        name, lag, active = origin["name"], origin.get("lag", 0), origin.get("active", -1)
        if origin.get("error"):
            check.criticals.append(f"{name}: {origin['error'].get('description', 'an error')}")
        check.measure("lag", lag, f"lag behind {name}", critical=limits.get("lag-critical"))
        if "seen-critical" in limits:
            last_seen = "never" if active < 0 else f"{format_duration(active)} ago"
            good = 0 <= active <= limits["seen-critical"]
            check.require(good, f"{name} seen {last_seen}", f"{name} was seen {last_seen}")


def _check_peers(check: Check, cluster: Json, limits: Limits) -> None:
    peers = cluster.get("replicas") or []
    expected = limits.get("peer-expect")
    if expected is None and not peers:
        return
    if cluster:
        check.require(bool(cluster.get("leader")), f"led by {cluster.get('leader')}", "no leader")
    if expected is not None:
        text = pluralize(len(peers) + 1 if cluster else 0, "replica")
        check.require(bool(cluster) and len(peers) + 1 == expected, text, f"{text}, expected {expected:g}")
    for peer in peers:
        if peer.get("offline"):
            check.criticals.append(f"{peer['name']} is offline")
        lag, active = limits.get("peer-lag-critical"), limits.get("peer-seen-critical")
        if lag is not None and peer.get("lag", 0) > lag:
            check.criticals.append(f"{peer['name']} is {peer['lag']:,} operations behind")
        if active is not None and peer.get("active", 0) > active:
            check.criticals.append(f"{peer['name']} was seen {format_duration(peer['active'])} ago")


async def check_consumer(api: Api, stream: str, name: str, flags: Limits, *, pinned: bool) -> Check:
    """Check what is pending at a consumer, and when it last delivered or received an ack. Raises
    JsctlError.
    """
    from jsctl.jetstream.consumer import requests as consumers  # the check of a stream needs none of them

    return check_consumer_info(
        await consumers.fetch_info(api, stream, name), f"{stream}_{name}", flags, pinned=pinned
    )


def check_consumer_info(info: Json, name: str, flags: Limits, *, pinned: bool) -> Check:
    """Check a consumer by its info. Raises BadInput for metadata that is not valid."""
    limits = with_metadata(flags, info["config"])
    check = Check("consumer", name)
    for key, name, datum, label in (
        ("outstanding-ack-critical", "ack_pending", "num_ack_pending", "unacknowledged messages"),
        ("waiting-critical", "pull_waiting", "num_waiting", "waiting pulls"),
        ("unprocessed-critical", "pending", "num_pending", "unprocessed messages"),
        ("redelivery-critical", "redelivered", "num_redelivered", "redelivered messages"),
    ):
        limit = limits.get(key)
        check.measure(name, info.get(datum, 0), label, critical=_read_limit(limit))
    for key, name, moment, label in (
        ("last-delivery-critical", "last_delivery", "delivered", "last delivery"),
        ("last-ack-critical", "last_ack", "ack_floor", "last acknowledgement"),
    ):
        span = compute_age((info.get(moment) or {}).get("last_active"), info.get("ts"))
        if span >= 0:
            check.measure(name, span / SECOND, f"seconds since the {label}", unit="s")
        if limits.get(key):
            age_words = "never" if span < 0 else f"{format_duration(span)} ago"
            check.require(0 <= span <= limits[key], f"{label} {age_words}", f"{label} {age_words}")
    if pinned:
        groups = info["config"].get("priority_groups") or []
        pinned_groups = [
            group for group in info.get("priority_groups") or [] if group.get("pinned_client_id")
        ]
        is_pinned = bool(groups) and len(pinned_groups) == len(groups)
        check.require(is_pinned, "every group has a pinned client", "not every group has a pinned client")
    return check


async def check_message(
    api: Api, stream: str, subject: str, flags: Limits, *, content: str, body_timestamp: bool, now: int
) -> Check:
    """Check age and content of a stream's last message on a subject.

    body_timestamp: the body is the message's time, in seconds since the epoch. now: ns. Raises JsctlError.
    """
    from jsctl.jetstream.message.browse import fetch_last

    check = Check("message", "Stream Message")
    try:
        message = await fetch_last(api, stream, subject)
    except NotFound as error:
        check.criticals.append(error.message)
        return check
    sent = parse_time_ns(message.timestamp)
    if body_timestamp:
        try:
            sent = int(float(message.data) * SECOND)
        except (ValueError, OverflowError):
            check.criticals.append("the body is not a time in seconds since the epoch")
            return check
    warn, critical = flags.get("age-warn"), flags.get("age-critical")
    check.measure(
        "age",
        (now - sent) / SECOND,
        "age",
        unit="s",
        warn=None if warn is None else warn / SECOND,
        critical=None if critical is None else critical / SECOND,
        format_value=lambda seconds: format_duration(int(seconds * SECOND)),
    )
    check.measure("size", len(message.data), "size", unit="B")
    if content != ".":
        matches = compile_pattern(content.encode(), flag="--content").search(message.data) is not None
        check.require(matches, "the content matches", f"the content does not match {content}")
    return check


async def check_bucket(api: Api, bucket: str, key: str, flags: Limits) -> Check:
    """Check a key-value bucket: how many values it holds, and whether a key has one. Raises JsctlError."""
    from jsctl.jetstream.kv.bucket import open_bucket
    from jsctl.jetstream.kv.read import get

    bucket_store = await open_bucket(api, bucket)
    check = Check("kv", bucket)
    check.good.append(f"bucket {bucket}")
    values = bucket_store.info["state"].get("num_subjects", 0)
    warn, critical = _read_limit(flags.get("values-warn")), _read_limit(flags.get("values-critical"))
    check.measure("values", values, "values", warn=warn, critical=critical)
    check.measure("bytes", bucket_store.info["state"].get("bytes", 0), "bytes", unit="B")
    check.measure("replicas", bucket_store.info["config"].get("num_replicas", 1), "replicas")
    if key:
        try:
            await get(bucket_store, key)
            check.good.append(f"key {key} has a value")
        except NotFound as error:
            check.criticals.append(str(error))
    return check


def _read_limit(limit: float | None) -> float | None:
    """Return a threshold; None for a negative one, which means no limit."""
    return None if limit is None or limit < 0 else limit


async def check_account(api: Api, flags: Limits, *, replicas: bool) -> Check:
    """Check an account's use of JetStream, in percent of its limits, and the replicas of its streams."""
    info: Json = await api.call("INFO")
    check = Check("jetstream", "JetStream")
    allowed: Json = info.get("limits") or {}
    for name, used, limit, label in (
        ("memory", info.get("memory", 0), allowed.get("max_memory", -1), "memory"),
        ("storage", info.get("storage", 0), allowed.get("max_storage", -1), "storage"),
        ("streams", info.get("streams", 0), allowed.get("max_streams", -1), "streams"),
        ("consumers", info.get("consumers", 0), allowed.get("max_consumers", -1), "consumers"),
    ):
        prefix = {"memory": "mem", "storage": "store"}.get(name, name)
        check.measure(name, used, label, unit="B" if name in ("memory", "storage") else "")
        percent = used / limit * 100 if limit > 0 else 0.0
        warn, critical = (
            _read_limit(flags.get(f"{prefix}-warn")),
            _read_limit(flags.get(f"{prefix}-critical")),
        )
        check.measure(f"{name}_pct", percent, f"{label} in percent", unit="%", warn=warn, critical=critical)
    if replicas:
        await _check_replicas(check, api, flags)
    return check


_REPLICAS = {
    "replicas_no_leader": "streams without a leader",
    "replicas_missing_replicas": "streams with too few replicas",
    "replicas_lagged": "replicas that are behind",
    "replicas_not_seen": "replicas that were not seen",
    "replicas_fail": "replicas that are offline",
}


async def _check_replicas(check: Check, api: Api, flags: Limits) -> None:
    max_lag, max_silence = (
        flags.get("replica-lag-critical", 200),
        flags.get("replica-seen-critical", 5 * SECOND),
    )
    good, counts = 0, dict.fromkeys(_REPLICAS, 0)
    async for page in streams.list_info_pages(api):
        for info in page:
            problems = list(_find_replica_problems(info, max_lag, max_silence))
            good += not problems
            for kind, words in problems:
                counts[kind] += 1
                check.criticals.append(f"stream {info['config']['name']} {words}")
    check.measure("replicas_ok", good, "streams with good replicas")
    for kind, label in _REPLICAS.items():
        check.measure(kind, counts[kind], label)


def _find_replica_problems(info: Json, max_lag: float, max_silence: float) -> Iterator[tuple[str, str]]:
    """Yield the problems of a stream's replicas: a key of _REPLICAS, and a description. seen: ns."""
    cluster, replicas = info.get("cluster") or {}, info["config"].get("num_replicas", 1)
    if replicas < 2:
        return
    peers = cluster.get("replicas") or []
    if not cluster.get("leader"):
        yield "replicas_no_leader", "has no leader"
    elif len(peers) + 1 < replicas:
        yield "replicas_missing_replicas", f"has {len(peers) + 1} of {replicas} replicas"
    for peer in peers:
        if peer.get("offline"):
            yield "replicas_fail", f"misses {peer['name']}"
        elif peer.get("active", 0) > max_silence and not peer.get("current"):
            yield "replicas_not_seen", f"has not seen {peer['name']} for {format_duration(peer['active'])}"
        elif peer.get("lag", 0) > max_lag:
            yield "replicas_lagged", f"{peer['name']} is {peer['lag']:,} operations behind"
