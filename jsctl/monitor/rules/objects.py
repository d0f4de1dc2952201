"""The rules of one stream, one mirror or source, one account, one server. No I/O.

They apply wherever such an object is seen: in `report` and its screen, `doctor`, the exporter, `--fail-on`.

A mirror or source hears from its origin every few seconds, also when there is nothing to copy (nats-server
sends idle heartbeats), so half a minute of silence means that the link is cut. When the API prefix of an
origin is wrong, servers report no error; the only sign is that the origin was never seen.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import (
    NEVER,
    SECOND,
    format_bytes,
    format_count,
    format_exact_duration,
    pluralize,
    truncate_to_seconds,
)
from jsctl.jetstream.api import Json
from jsctl.jetstream.state import count_lost, get_mark, is_full
from jsctl.jetstream.stream.replicas import count_replicas
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.stream.rows import ReplicationRow
from jsctl.monitor.trouble import Trouble, check_migration, check_replicas, has_leader, is_settled

NEARLY = 0.9  #: the share of a limit above which there is a warning
_SERVER_FIX = (
    "raise max_file_store or max_memory_store in its jetstream block, add servers, or move streams to others"
)
SILENT = 30 * SECOND  #: ns since an origin was last heard from

META_RESCUE = Rule(
    "META_RESCUE",
    "servers act without a majority",
    "servers",
    why="if the others run after all, both sides change streams, and what one side changed is lost",
    fix="it ends after five minutes, or when the servers that will not come back are removed",
)


def check_stream(info: Json, now: datetime) -> list[Trouble]:
    """Return the problems of a stream: leader, replicas, lost messages, limits that refuse messages or lose
    unread ones, a restore that has not ended, a counter that is not loaded again, interest retention without
    consumers."""
    leader_troubles = [] if has_leader(info) else [Trouble("no leader", True, "STREAM_NO_LEADER")]
    return [
        *leader_troubles,
        *check_replicas(info, now),
        *check_migration(info, now),
        *_check_replica_count(info, now),
        *_check_lost(info),
        *_check_stream_limits(info),
        *_check_mark(info),
        *_check_counter(info["config"]),
        *_check_interest(info, now),
    ]


def check_link(
    row: ReplicationRow,
    lags: Sequence[int],
    created: str | None,
    now: datetime,
    known: Sequence[Trouble] = (),
    of_stream: Sequence[Trouble] = (),
    rate: float | None = None,
) -> list[Trouble]:
    """Return what is wrong with a mirror or source. lags: the last ones, oldest first. created: when its
    stream was. known: what `rules.links` found. of_stream: what is wrong with its stream. rate: messages
    that its stream stores per second, None if that is not known."""
    troubles = list(known)
    if any(trouble.code in ("ORIGIN_MISSING", "ORIGIN_SILENT") for trouble in known):
        return troubles  # the rest is what comes of it
    if row.error:
        troubles.append(Trouble("error", True, "LINK_FAILED", row.error))
    if row.active == NEVER:
        if not row.error and is_settled(created, now):
            troubles.append(Trouble("never seen", True, "LINK_FAILED", "its origin was never heard from"))
    elif row.active >= SILENT:
        troubles.append(
            Trouble(
                f"not seen for {format_exact_duration(truncate_to_seconds(row.active))}", True, "LINK_FAILED"
            )
        )
    explained = {trouble.code for trouble in known} & {"LINK_AHEAD", "LINK_DIFFERS", "MIRROR_FULL"}
    if explained or any(trouble.code == "LIMIT_NEAR" and trouble.bad for trouble in of_stream):
        return troubles  # the lag comes of it
    if is_growing(lags):
        troubles.append(Trouble("lag growing", False, "LAG_GROWING"))
    elif len(lags) >= 3 and row.lag > 0 and min(lags) == max(lags) and not (rate and row.kind == "mirror"):
        troubles.append(Trouble("lag stuck", False, "LINK_IDLE"))
    return troubles


def check_account(info: Json) -> list[Trouble]:
    """Return the limits of the account (of each tier) that are nearly reached. info: `$JS.API.INFO`."""
    troubles: list[Trouble] = []
    tiers: dict[str, Json] = info.get("tiers") or ({"": info} if info else {})
    for name, tier in tiers.items():
        limits = tier.get("limits") or {}
        where = f" ({name})" if name else ""
        for used, limit, words in (
            (tier.get("storage", 0), limits.get("max_storage", -1), "file storage"),
            (tier.get("memory", 0), limits.get("max_memory", -1), "memory storage"),
            (tier.get("streams", 0), limits.get("max_streams", -1), "streams"),
            (tier.get("consumers", 0), limits.get("max_consumers", -1), "consumers"),
        ):
            if limit and limit > 0 and used >= NEARLY * limit:
                usage = f"{_format_share(used, limit)} of the account's {words}{where}"
                troubles.append(
                    Trouble(
                        usage,
                        used >= limit,
                        "LIMIT_NEAR",
                        f"it uses {usage}",
                        [Suggestion("stream report")],
                        "raise the limit in the account's jetstream settings, or see what uses it",
                    )
                )
    return troubles


def check_server(jsz: Mapping[str, Any]) -> list[Trouble]:
    """Return the limits of a server's storage that are nearly reached, and whether its meta group works with
    fewer servers than a majority. jsz: its answer to JSZ."""
    config, meta, troubles = jsz.get("config") or {}, jsz.get("meta_cluster") or {}, []
    quorum = f"{meta.get('quorum_needed') or 0} of {pluralize(int(meta.get('cluster_size') or 0), 'server')}"
    if meta.get("rescue"):
        acts = f"meta group {'acts' if meta.get('leader') else 'may act'} with {quorum}"
        troubles.append(Trouble(f"rescue: {acts}", True, "META_RESCUE", f"in a rescue its {acts}"))
    if meta and not meta.get("leader"):
        says = f"its meta group has no leader, which {quorum} elect"
        troubles.append(Trouble("meta group has no leader", True, "META_NO_LEADER", says))
    for used, limit, kind in (
        (int(jsz.get("storage") or 0), int(config.get("max_storage") or 0), "file storage"),
        (int(jsz.get("memory") or 0), int(config.get("max_memory") or 0), "memory storage"),
    ):
        if limit > 0 and used >= NEARLY * limit:
            says = f"its JetStream uses {format_bytes(used)} of {format_bytes(limit)} of {kind}"
            words = f"{_format_share(used, limit)} of its {kind}"
            troubles.append(Trouble(words, used >= limit, "LIMIT_NEAR", says, advice=_SERVER_FIX))
    return troubles


def is_growing(numbers: Sequence[int]) -> bool:
    """Return whether numbers, oldest first, grow steadily.

    They do when there are at least three, none is lower than the previous one, and the last is at least 2
    above the first.
    """
    return (
        len(numbers) >= 3
        and all(a <= b for a, b in itertools.pairwise(numbers))
        and numbers[-1] - numbers[0] >= 2
    )


def _check_stream_limits(info: Json) -> Iterator[Trouble]:
    """Yield the limits of a stream that are nearly reached, and that refuse messages or lose unread ones."""
    config, state = info["config"], info["state"]
    if config.get("mirror") and is_full(config, state):
        return  # what mends that is another thing
    limits: list[tuple[int, int, str, str]] = []
    # A stream that discards old messages reaches its limits in ordinary work; a sealed one stores none.
    discards_old = config.get("discard") != "new" and config.get("retention", "limits") == "limits"
    if not discards_old and not config.get("sealed"):
        limits += [
            (state.get("messages", 0), config.get("max_msgs", -1), "messages", "--max-msgs"),
            (state.get("bytes", 0), config.get("max_bytes", -1), "bytes", "--max-bytes"),
        ]
    limits.append(
        (state.get("consumer_count", 0), config.get("max_consumers", -1), "consumers", "--max-consumers")
    )
    for used, limit, words, flag in limits:
        if limit > 0 and used >= NEARLY * limit:
            usage = f"{_format_share(used, limit)} of its {words}"
            has_reached = used >= limit and words != "consumers"
            undo = Suggestion("stream edit", [config["name"]], [flag, str(limit)])
            # What waits at its origins is to fit, too.
            lag = sum(int(origin.get("lag") or 0) for origin in info.get("sources") or ())
            needed = max(limit, used + lag * (words == "messages"))
            fix = undo._replace(flags=[flag, str(2 * needed)], is_safe=True, undo=undo)
            yield Trouble(usage, has_reached, "LIMIT_NEAR", f"it uses {usage}", [fix])


def _check_lost(info: Json) -> Iterator[Trouble]:
    lost, size = count_lost(info["state"])
    if lost:
        yield Trouble(
            f"{format_count(lost)} lost",
            True,
            "MESSAGES_LOST",
            f"{pluralize(lost, 'message')} ({format_bytes(size)}) could not be read from its files",
        )


def _check_replica_count(info: Json, now: datetime) -> Iterator[Trouble]:
    config = info["config"]
    configured, existing = count_replicas(info)
    is_moving = bool((info.get("cluster") or {}).get("desired"))
    if existing < configured and not is_moving and is_settled(info.get("created"), now):
        edit = Suggestion(
            "stream edit", [config["name"]], ["--replicas", str(configured), "--force"], is_safe=True
        )
        yield Trouble(
            f"{existing} of {pluralize(configured, 'replica')}",
            False,
            "REPLICAS_FEW",
            f"it has {existing} of {pluralize(configured, 'replica')}, as after an evacuation of servers",
            [edit],
        )


def _check_mark(info: Json) -> Iterator[Trouble]:
    if mark := get_mark(info):
        step, _, began = mark.partition(" ")
        words = "its copy is not compared" if step == "compare" else "not fully restored"
        since = f", which began at {began}" if began else ""
        yield Trouble(
            words,
            False,
            "STREAM_UNFINISHED",
            f"a {'copy' if step == 'compare' else 'restore or copy'} of it has not ended{since}",
        )


def _check_counter(config: Json) -> Iterator[Trouble]:
    if config.get("allow_msg_counter") and config.get("subject_delete_marker_ttl"):
        says = "it is a counter whose delete markers have a TTL, which a server creates and does not load"
        yield Trouble("gone at the next start of its server", True, "COUNTER_NOT_LOADED", says)


def _check_interest(info: Json, now: datetime) -> Iterator[Trouble]:
    config, state = info["config"], info["state"]
    name, retention = str(config["name"]), config.get("retention")
    # Names with $ are the servers' own, as for MQTT.
    if state.get("consumer_count") or name.startswith("$") or not is_settled(info.get("created"), now):
        return
    if retention == "workqueue" and state.get("messages"):
        says = f"it has no consumers, and holds {pluralize(state['messages'], 'message')}"
        subjects = ", ".join(config.get("subjects") or ())
        says += f" on {subjects}" if subjects else ""
        yield Trouble("no consumers", False, "NOT_CONSUMED", says, [Suggestion("consumer add", [name])])
    elif retention == "interest":
        yield Trouble(
            "no consumers: messages are dropped",
            False,
            "INTEREST_MISSING",
            "it keeps messages for as long as consumers are interested in them, and it has no consumers",
            [Suggestion("consumer add", [name])],
        )


def _format_share(used: int, limit: int) -> str:
    return f"{used * 100 // limit}%"


RULES = (
    META_RESCUE,
    Rule(
        "LINK_IDLE",
        "a mirror or source looks active and copies nothing",
        "links",
        (
            *("LINK_AHEAD", "LINK_DIFFERS", "MIRROR_FULL"),
            "DELIVERY_NOT_IMPORTED",
            "FLOW_CONTROL_MISSING",
            "CONSUMER_ORPHANED",
            "ORIGIN_SILENT",
            "IMPORT_DEAD",
        ),
        fix="see who has the messages: {stream report}",
    ),
    Rule(
        "LINK_FAILED",
        "a mirror or source does not reach its origin",
        "links",
        (
            *("DELIVERY_NOT_IMPORTED", "FLOW_CONTROL_MISSING", "CONSUMER_ORPHANED", "ORIGIN_SILENT"),
            *(
                "SERVER_SILENT",
                "IMPORT_DEAD",
                "ORIGIN_MISSING",
                "LINK_IDLE",
                "META_NO_LEADER",
                "JETSTREAM_SILENT",
            ),
        ),
        fix="see the origin",
    ),
    Rule(
        "LAG_GROWING",
        "a mirror or source falls behind",
        "links",
        rounds=True,
        fix="see what limits it: {stream report}",
    ),
    Rule(
        "REPLICA_OFFLINE",
        "a server with replicas is away",
        "servers",
        ("META_NO_LEADER",),
        fix="start its server: {server list} shows which run",
    ),
    Rule(
        "REPLICA_BEHIND",
        "a replica is behind its leader",
        "streams",
        ("REPLICA_OFFLINE",),
        why="if the leader fails now, what the replica lacks is missing until the leader is back",
        fix="wait; if it stays behind, see its server: {server report jetstream}",
    ),
    Rule(
        "REPLICAS_FEW",
        "a stream has fewer replicas than it should",
        "streams",
        why="each further server that fails brings it closer to a stop, or to losing messages",
        fix="start a server that can hold them (one that was removed from the cluster comes back only"
        " under a new name), then make the replicas again",
    ),
    Rule(
        "MIGRATION_STALLED",
        "a change of the servers of a stream or consumer stands still",
        "streams",
        ("META_NO_LEADER", "STREAM_NO_LEADER"),
        why="until it ends, it is not where it should be, and other changes of its servers are refused",
        fix="see its servers",
    ),
    Rule(
        "STREAM_NO_LEADER",
        "a stream has no leader",
        "streams",
        ("META_NO_LEADER",),
        fix="start the servers that hold it: {server report jetstream} shows which are away",
    ),
    Rule(
        "STREAM_UNFINISHED",
        "a restore or copy of a stream has not ended",
        "streams",
        why="it does not hold everything yet: who reads it now misses messages",
        fix="wait until it has ended; if it was interrupted, run the same restore or copy again",
    ),
    Rule(
        "INTEREST_MISSING",
        "a stream that keeps messages for its consumers has none",
        "streams",
        why="with interest retention, what is published while there is no consumer is dropped at once",
        fix="create the consumer that its clients need",
    ),
    Rule(
        "NOT_CONSUMED",
        "a work queue holds messages that no consumer takes",
        "consumers",
        why="they wait for ever",
        fix="create a consumer for them, or remove them",
    ),
    Rule(
        "COUNTER_NOT_LOADED",
        "a counter is gone at the next start of its server",
        "streams",
        why="the server refuses the configuration then (10052), and any change of it before",
        fix="save it with {backup stream}, remove it, and restore it with a --config of"
        " subject_delete_marker_ttl: 0 and allow_msg_ttl: false",
    ),
    Rule(
        "LIMIT_NEAR",
        "a limit is nearly reached",
        "streams",
        fix="raise the limit",
    ),
    Rule(
        "API_ERRORS",
        "requests to JetStream fail",
        "servers",
        rounds=True,
        fix="see which requests fail: {events --js-advisory}",
    ),
    Rule(
        "MESSAGES_LOST",
        "a stream lost messages",
        "streams",
        why="they are lost on this server",
        fix="look for them in a backup, or in a mirror of the stream",
    ),
)
