"""The rules of one stream. No I/O.

They apply wherever a stream is seen: in `report` and its screen, `doctor`, the exporter, `--fail-on`.
"""

from collections.abc import Iterator
from datetime import datetime

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import format_bytes, format_count, pluralize
from jsctl.jetstream.api import Json
from jsctl.jetstream.state import count_lost, get_mark, is_full
from jsctl.jetstream.stream.replicas import count_replicas
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.trouble import Trouble, check_migration, check_replicas, has_leader, is_settled

NEARLY = 0.9  #: the share of a limit above which there is a warning


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


def _check_stream_limits(info: Json) -> Iterator[Trouble]:
    """Yield the limits of a stream that are nearly reached, and that refuse messages or lose unread ones."""
    config, state = info["config"], info["state"]
    if config.get("mirror") and is_full(config, state):
        return  # another command repairs that
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
            usage = f"{format_share(used, limit)} of its {words}"
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


def format_share(used: int, limit: int) -> str:
    """Return how much of a limit is used, such as 95%."""
    return f"{used * 100 // limit}%"


RULES = (
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
        "MESSAGES_LOST",
        "a stream lost messages",
        "streams",
        why="they are lost on this server",
        fix="look for them in a backup, or in a mirror of the stream",
    ),
)
