"""Checks of streams, messages, consumers, buckets and an account's use of JetStream.

Thresholds are by the name of their flag; spans are ns. Those that the command line leaves out come from
metadata of the stream or consumer: `io.nats.monitor.lag-critical` (natscli: server check stream).
"""

from collections.abc import Iterator

from jsctl.base.patterns import compile_pattern
from jsctl.base.units import SECOND, compute_age, format_duration, parse_duration, parse_time_ns, pluralize
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import list_origins
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.check.outcome import Check, CheckStatus, Limits, Pair, get_limit, get_pair

_METADATA = "io.nats.monitor."
ENABLED, PINNED = f"{_METADATA}enabled", f"{_METADATA}pinned"
"""Keys of metadata: whether `audit analyze` checks the stream or consumer, and whether each group of a
consumer must have a pinned client.
"""
_SPANS = frozenset({"seen-critical", "peer-seen-critical", "last-delivery-critical", "last-ack-critical"})


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
    info = await streams.fetch_info(api, name)
    if list_origins(info["config"]):  # others do not import what measures it
        from jsctl.monitor.origins import measure_lag

        info = await measure_lag(api, info)
    return check_stream_info(info, name, flags)


def check_stream_info(info: Json, name: str, flags: Limits) -> Check:
    """Check a stream by its info. Raises BadInput for metadata that is not valid."""
    limits = with_metadata(flags, info["config"])
    check = Check("stream", name)
    _check_origins(check, info, limits)
    _check_peers(check, info.get("cluster") or {}, limits)
    state = info["state"]
    check.measure("messages", state["messages"], "messages", get_pair(limits, "msgs"), bad="low")
    subjects = state.get("num_subjects", 0)
    check.measure("subjects", subjects, "subjects", get_pair(limits, "subjects"), bad="either")
    return check


def _check_origins(check: Check, info: Json, limits: Limits) -> None:
    sources = info.get("sources") or []
    minimum, maximum = get_limit(limits, "min-sources"), get_limit(limits, "max-sources")
    text = pluralize(len(sources), "source")
    check.report("sources", len(sources), "sources", (minimum, maximum))
    check.require(
        (minimum or 0) <= len(sources) <= (maximum or len(sources)),
        text,
        f"{text}, expected {minimum or 0:g} to {maximum or float('inf'):g}",
    )
    max_lag, max_silence = get_limit(limits, "lag-critical"), get_limit(limits, "seen-critical")
    if not (info.get("mirror") or sources) and (max_lag or max_silence):
        check.criticals.append("it has neither a mirror nor sources")
    if info.get("mirror"):
        _check_origin(check, info["mirror"], limits, "")
    lagged = sum(source.get("lag", 0) >= (max_lag or float("inf")) for source in sources)
    inactive = sum(_is_silent(source, max_silence) for source in sources)
    check.report("sources_lagged", lagged, "sources that are behind")
    check.report("sources_inactive", inactive, "sources that are not active")
    names: list[str] = []
    for source in sources:
        names.append(source["name"])
        count = names.count(source["name"])  # one stream may be a source more than once, or have namesakes
        _check_origin(check, source, limits, f"_{source['name']}" + (f"_{count}" if count > 1 else ""))


def _is_silent(origin: Json, max_silence: float | None) -> bool:
    """Return whether nothing was heard of an origin for `max_silence` ns, or ever."""
    return max_silence is not None and not 0 <= origin.get("active", -1) < max_silence


def _check_origin(check: Check, origin: Json, limits: Limits, suffix: str) -> None:
    """Check a mirror's or source's origin. suffix: of the names of its numbers."""
    name, lag, active = origin["name"], origin.get("lag", 0), origin.get("active", -1)
    if ahead := origin.get("ahead"):
        check.criticals.append(f"it is {pluralize(ahead, 'sequence')} past the last one of {name}")
    if origin.get("error"):
        check.criticals.append(f"{name}: {origin['error'].get('description', 'an error')}")
    check.measure(f"lag{suffix}", lag, f"lag behind {name}", (None, get_limit(limits, "lag-critical")))
    max_silence = get_limit(limits, "seen-critical")
    check.report(
        f"active{suffix}",
        active / SECOND if active >= 0 else -1,
        f"seconds since {name} was seen",
        (None, max_silence),
        unit="s",
    )
    if max_silence is not None:
        last_seen = "never" if active < 0 else f"{format_duration(active)} ago"
        is_silent = _is_silent(origin, max_silence)
        check.require(not is_silent, f"{name} seen {last_seen}", f"{name} was seen {last_seen}")


def _check_peers(check: Check, cluster: Json, limits: Limits) -> None:
    peers = cluster.get("replicas") or []
    expected = get_limit(limits, "peer-expect")
    if not (expected or peers):
        return
    if cluster:
        check.require(bool(cluster.get("leader")), f"led by {cluster.get('leader')}", "no leader")
    if expected is not None:  # CHECK_OUTCOME
        text = pluralize(len(peers) + 1 if cluster else 0, "replica")
        check.require(bool(cluster) and len(peers) + 1 == expected, text, f"{text}, expected {expected:g}")
    for peer in peers:
        if peer.get("offline"):
            check.criticals.append(f"{peer['name']} is offline")
        lag, active = get_limit(limits, "peer-lag-critical"), get_limit(limits, "peer-seen-critical")
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
        check.measure(name, info.get(datum, 0), label, (None, get_limit(limits, key)))
    for key, name, moment, label in (
        ("last-delivery-critical", "last_delivery", "delivered", "last delivery"),
        ("last-ack-critical", "last_ack", "ack_floor", "last acknowledgement"),
    ):
        span = compute_age((info.get(moment) or {}).get("last_active"), info.get("ts"))
        if span >= 0:
            words = f"seconds since the {label}"
            check.measure(name, span / SECOND, words, (None, get_limit(limits, key)), unit="s")
        elif get_limit(limits, key):
            check.criticals.append(f"{label} never")
    groups = info["config"].get("priority_groups") or []
    pinned_groups = [group for group in info.get("priority_groups") or [] if group.get("pinned_client_id")]
    if info["config"].get("priority_policy") == "pinned_client":
        check.report("pinned_groups", len(pinned_groups), "groups with a pinned client")
        check.report("groups", len(groups), "groups")
    if pinned:
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
    check.measure("age", (now - sent) / SECOND, "age", get_pair(flags, "age"), unit="s", reached=False)
    check.report("size", len(message.data), "size", unit="B")
    if not compile_pattern(content.encode(), flag="--content").search(message.data):
        check.criticals.append(f"the content does not match {content}")
    if check.status is CheckStatus.OK:
        check.good.insert(0, f"the message on {stream} > {subject} is valid")
    return check


async def check_bucket(api: Api, bucket: str, key: str, flags: Limits) -> Check:
    """Check a key-value bucket: how many values it stores, older ones and marks of deletion among them,
    as `kv info` counts them, and whether a key has one. Raises JsctlError.
    """
    from jsctl.jetstream.kv.bucket import open_bucket
    from jsctl.jetstream.kv.read import fetch_newest_entry

    bucket_store = await open_bucket(api, bucket)
    check = Check("kv", bucket)
    check.good.append(f"bucket {bucket}")
    check.measure(
        "values",
        bucket_store.info["state"].get("messages", 0),
        "values",
        _read_pair(flags, "values"),
        bad="either",
    )
    check.report("bytes", bucket_store.info["state"].get("bytes", 0), "bytes", unit="B")
    check.report("replicas", bucket_store.info["config"].get("num_replicas", 1), "replicas")
    if key:
        entry = await fetch_newest_entry(bucket_store, key)
        if entry is None:
            check.criticals.append(f"key {key} not found")
        else:
            check.require(entry.is_value, f"key {key} has a value", f"key {key} {entry.removal}")
    return check


def _read_pair(flags: Limits, key: str) -> Pair:
    """Return the thresholds `key`-warn and `key`-critical; a negative one means none, 0 does not."""
    warn, critical = (flags.get(f"{key}-{word}", -1) for word in ("warn", "critical"))
    return None if warn < 0 else warn, None if critical < 0 else critical


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
        check.report(name, used, label, unit="B" if name in ("memory", "storage") else "")
        percent = used * 100 // limit if limit > 0 else 0
        pair = _read_pair(flags, prefix)
        words = f"{label} in percent"
        check.measure(f"{name}_pct", percent, words, pair, unit="%", reached=False, ordered=True)
        if percent > 100 and pair[1] is None:
            check.criticals.append(f"{words} {percent}, above the limit of the account")
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
        get_limit(flags, "replica-lag-critical"),
        get_limit(flags, "replica-seen-critical"),
    )
    good, counts = 0, dict.fromkeys(_REPLICAS, 0)
    async for page in streams.list_info_pages(api):
        for info in page:
            problems = list(_find_replica_problems(info, max_lag, max_silence))
            good += not problems
            for kind, words in problems:
                counts[kind] += 1
                check.criticals.append(f"stream {info['config']['name']} {words}")
    check.report("replicas_ok", good, "streams with good replicas")
    for kind, label in _REPLICAS.items():
        critical = max_lag if kind == "replicas_lagged" else None
        unit = ""
        if kind == "replicas_not_seen":  # a count, with a threshold in seconds as in `nats`
            critical, unit = max_silence, "s"
        check.report(kind, counts[kind], label, (None, critical), unit=unit)


def _find_replica_problems(
    info: Json, max_lag: float | None, max_silence: float | None
) -> Iterator[tuple[str, str]]:
    """Yield the problems of a stream's replicas: a key of _REPLICAS, and a description. max_silence: ns."""
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
        elif max_silence and peer.get("active", 0) > max_silence and not peer.get("current"):
            yield "replicas_not_seen", f"has not seen {peer['name']} for {format_duration(peer['active'])}"
        elif max_lag and peer.get("lag", 0) > max_lag:
            yield "replicas_lagged", f"{peer['name']} is {peer['lag']:,} operations behind"
