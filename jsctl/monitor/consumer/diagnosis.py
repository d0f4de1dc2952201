"""Why a consumer does not move on: causes, the numbers that show them, and what would help. No I/O.

`consumer why` shows all of the diagnosis; `jsctl report` and `consumer report` show the causes that are
trouble, in a few words.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from jsctl.base.command_lines import Suggestion, build_flag
from jsctl.base.units import (
    format_count,
    format_duration,
    format_time,
    pluralize,
    truncate_to_seconds,
)
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.state import format_followers as follower_names
from jsctl.monitor.consumer import clients, unacknowledged
from jsctl.monitor.consumer.clients import diagnose_clients
from jsctl.monitor.consumer.facts import (
    FINE,
    PARTIAL,
    SLOW,
    STOPPED,
    WAITING,
    Cause,
    Delivery,
    Facts,
    read_delivery,
)
from jsctl.monitor.consumer.unacknowledged import (
    count_messages,
    diagnose_ack_limit,
    diagnose_given_up,
    diagnose_missing_acks,
)
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.trouble import Trouble, check_migration, find_lagging_replicas, has_leader
from jsctl.nats.subjects import covers, overlaps

_ORDER = {STOPPED: 0, SLOW: 1, PARTIAL: 2, WAITING: 3, FINE: 4}


def find_causes(facts: Facts) -> list[Cause]:
    """Return all causes, the worst first; a single one without fault when nothing is wrong."""
    causes = list(_diagnose_servers(facts))
    if facts.consumer:
        causes += _diagnose_delivery(facts, read_delivery(facts))
    return sorted(causes or [_describe_healthy(facts)], key=lambda cause: _ORDER[cause.weight])


def find_troubles(facts: Facts) -> list[Trouble]:
    """Return what is wrong with a consumer, the worst first; the same as `find_causes`, in a few words."""
    return [
        # What redelivers messages sooner does not prevent redeliveries.
        cause.trouble._replace(
            says=cause.says, help=() if cause.trouble.code == "REDELIVERED" else cause.help
        )
        for cause in find_causes(facts)
        if cause.trouble
    ]


def _diagnose_servers(facts: Facts) -> Iterator[Cause]:
    if not facts.stream and facts.silent:
        yield Cause(
            kind="stream without leader",
            weight=STOPPED,
            says=f"stream {facts.stream_name} does not answer: too few of its replicas are online"
            " to elect a leader",
            numbers={"said": facts.silent},
            help=[Suggestion("doctor")],
            trouble=Trouble("stream without leader", True, "STREAM_NO_LEADER"),
        )
        return
    for kind, info in (("stream", facts.stream), ("consumer", facts.consumer)):
        has_answer = bool(info) or (kind == "stream" and not facts.silent)
        if has_answer and has_leader(info):
            continue
        followers = follower_names(info.get("cluster") or {})
        away = [peer for peer in followers if peer.endswith("!")]
        verb = "is" if len(away) == 1 else "are"
        details = (
            f": {len(away)} of its {pluralize(len(followers), 'server')} {verb} away or behind"
            if away
            else ""
        )
        yield Cause(
            kind=f"{kind} without leader",
            weight=STOPPED,
            says=f"the {kind} has no leader{details}",
            numbers={"peers": list(followers)} if info else {"said": facts.silent},
            help=[Suggestion("doctor")],
            trouble=Trouble("no leader", True, "CONSUMER_NO_LEADER")
            if kind == "consumer"
            else Trouble("stream without leader", True, "STREAM_NO_LEADER"),
        )
    for replica in find_lagging_replicas(facts.consumer, facts.consumer.get("ts")):
        is_unseen = replica.state.startswith("not seen")
        state = f"has {replica.state.replace('not', 'not been', 1)}" if is_unseen else f"is {replica.state}"
        yield Cause(
            kind="replica behind",
            weight=SLOW,
            says=f"its replica on {replica.server} {state}",
            numbers={"peers": list(follower_names(facts.consumer["cluster"]))},
            help=[Suggestion("server report jetstream")],
            trouble=replica.trouble,
        )
    for trouble in check_migration(facts.consumer, facts.consumer.get("ts")):
        numbers = {"desired": facts.consumer["cluster"]["desired"]}
        yield Cause("migration stands still", SLOW, trouble.says, numbers, trouble.help, trouble)


def _diagnose_delivery(facts: Facts, now: Delivery) -> Iterator[Cause]:
    config = facts.consumer.get("config") or {}
    if now.paused:
        yield _diagnose_pause(facts, config)
    if now.at_limit and now.pending:
        yield diagnose_ack_limit(facts, now)
    yield from diagnose_clients(facts, config, now)
    yield from diagnose_given_up(facts, config, now)
    yield from _diagnose_removed(facts, config)
    yield from _diagnose_login(facts)
    for trouble in facts.queue:
        yield Cause("not consumed", PARTIAL, trouble.says, {}, trouble.help, trouble)
    if now.unacked and not (now.at_limit and now.pending):
        yield from diagnose_missing_acks(facts, config, now)
    if not now.pending and not now.unacked:
        yield from _diagnose_nothing_pending(facts, config)
    if now.pending and config.get("replay_policy") == "original":
        yield Cause(
            kind="original pace",
            weight=SLOW,
            says="it delivers messages at the pace at which they were stored",
            numbers={"replay_policy": "original"},
        )
    if now.pending and (rate := int(config.get("rate_limit_bps") or 0)):
        yield Cause(
            kind="rate limit",
            weight=SLOW,
            says=f"it is limited to {format_count(rate)} bits per second",
            numbers={"rate_limit_bps": rate},
        )


def _diagnose_pause(facts: Facts, config: Json) -> Cause:
    remaining, until = int(facts.consumer.get("pause_remaining", 0)), config.get("pause_until", "")
    return Cause(
        kind="paused",
        weight=STOPPED,
        says=f"it is paused until {format_time(until)}, "
        f"for another {format_duration(truncate_to_seconds(remaining))}",
        numbers={"pause_until": until, "pause_remaining": remaining},
        help=[facts.suggest("resume")._replace(is_safe=True, undo=facts.suggest("pause", until))],
        trouble=Trouble("paused", False, "CONSUMER_PAUSED"),
    )


def _diagnose_removed(facts: Facts, config: Json) -> Iterator[Cause]:
    """Yield whether the stream has removed messages that the consumer did not get. A new consumer begins
    behind what was removed before it, and a purge moves consumers on (nats-server: consumer.go, purge). A
    stream that keeps the newest messages of each subject drops the others on purpose, and a mirror may lack
    sequences from the start."""
    stored_config, state = facts.stream.get("config") or {}, facts.stream.get("state") or {}
    if not facts.consumer.get("delivered"):
        return
    delivered, first = int(facts.consumer["delivered"].get("stream_seq", 0)), int(state.get("first_seq", 0))
    filters, subjects = get_filters(config), stored_config.get("subjects") or [">"]
    gets_all = not filters or all(any(covers(one, subject) for one in filters) for subject in subjects)
    if not gets_all or config.get("deliver_policy") == "last_per_subject":
        return
    if stored_config.get("retention", "limits") != "limits" or stored_config.get("mirror"):
        return
    if int(stored_config.get("max_msgs_per_subject") or -1) > 0 or delivered >= first - 1:
        return
    gone, count = first - 1 - delivered, int(facts.consumer["delivered"].get("consumer_seq", 0))
    reached = f"it has read up to sequence {format_count(delivered)}" if count else "it has read nothing yet"
    yield Cause(
        kind="removed unread",
        weight=PARTIAL,
        says=f"{reached}, and the stream begins at {format_count(first)}: its limits, or removals of single"
        f" messages, took {pluralize(gone, 'sequence')} before that",
        numbers={"delivered": delivered, "first_seq": first},
        trouble=Trouble(f"{format_count(gone)} removed unread", False, "UNREAD_REMOVED"),
    )


def _diagnose_login(facts: Facts) -> Iterator[Cause]:
    if not facts.may_ack:
        subject = f"$JS.ACK.{facts.stream_name}.{facts.name}.>"
        yield Cause(
            kind="may not acknowledge",
            weight=SLOW,
            says=f"this login may request its messages, and not acknowledge them: it may not publish to"
            f" {subject}",
            numbers={"subject": subject},
            trouble=Trouble("this login may not acknowledge", False, "ACK_DENIED"),
        )


def _diagnose_nothing_pending(facts: Facts, config: Json) -> Iterator[Cause]:
    """Yield why nothing is left to deliver: no message matches, or delivery starts later."""
    if not facts.stream:
        return
    stored_config, state = facts.stream["config"], facts.stream["state"]
    subjects, messages = get_filters(config), int(state.get("messages", 0))
    numbers: dict[str, Any] = {"num_pending": 0, "messages": messages}
    stream_subjects = stored_config.get("subjects") or []
    subjects_line = Suggestion("stream subjects", [facts.stream_name])
    # Copies and transformed messages may have subjects that the configuration does not show.
    has_others = any(stored_config.get(key) for key in ("mirror", "sources", "subject_transform"))
    impossible_filters = [
        subject
        for subject in subjects
        if stream_subjects
        and not has_others
        and not any(overlaps(stream_subject, subject) for stream_subject in stream_subjects)
    ]
    if impossible_filters and len(impossible_filters) == len(subjects) and not facts.matching:
        yield Cause(
            kind="filter matches nothing",
            weight=STOPPED,
            says=f"no message of the stream ({format_count(messages)}) matches its filter"
            f" ({', '.join(subjects)}), and none ever can: the stream takes {', '.join(stream_subjects)}",
            numbers={**numbers, "matching": 0, "filters": subjects},
            help=_suggest_filter(facts, stream_subjects),
            trouble=Trouble("filter can never match", True, "FILTER_EMPTY"),
        )
    elif not messages:
        yield Cause("empty stream", FINE, f"stream {facts.stream_name} holds no messages", numbers)
    elif subjects and facts.matching == 0:
        yield Cause(
            kind="filter matches nothing",
            weight=FINE,
            says=f"no message of the stream ({format_count(messages)}) matches its filter"
            f" ({', '.join(subjects)})",
            numbers={**numbers, "matching": 0, "filters": subjects},
            help=[subjects_line],
        )
    start, last = int(config.get("opt_start_seq") or 0), int(state.get("last_seq", 0))
    if start > last:
        yield Cause(
            kind="starts later",
            weight=STOPPED,
            says=f"it starts at sequence {format_count(start)}, and the stream is at {format_count(last)}",
            numbers={**numbers, "opt_start_seq": start, "last_seq": last},
            trouble=Trouble(f"starts at {format_count(start)}", False, "STARTS_LATER"),
        )


def _suggest_filter(facts: Facts, subjects: Sequence[str]) -> Sequence[Suggestion]:
    """Return the line that gives a consumer the stream's subject as its filter; none for several."""
    return [facts.suggest("edit", flags=build_flag("--filter", subjects[0]))] if len(subjects) == 1 else ()


def _describe_healthy(facts: Facts) -> Cause:
    info = facts.consumer
    pending = int(info.get("num_pending", 0))
    numbers = {
        "num_pending": pending,
        "delivered": int((info.get("delivered") or {}).get("stream_seq", 0)),
        "last_seq": int((facts.stream.get("state") or {}).get("last_seq", 0)),
    }
    if pending:
        return Cause(
            "moving",
            FINE,
            f"nothing holds it up: {count_messages(pending, 'is', 'are')} on the way",
            numbers,
        )
    return Cause("done", FINE, "it has delivered everything there is", numbers)


RULES = (
    Rule(
        "ACK_DENIED",
        "a login may request messages, and not acknowledge them",
        "consumers",
        why="what its clients receive is delivered again and again",
        fix="let it publish to $JS.ACK.STREAM.CONSUMER.>, or reply to what it receives (allow_responses)",
    ),
    *clients.RULES,
    *unacknowledged.RULES,
    Rule(
        "CONSUMER_NO_LEADER",
        "a consumer has no leader",
        "consumers",
        ("META_NO_LEADER", "STREAM_NO_LEADER"),
        why="nothing is delivered until most of its replicas are there",
        fix="start the servers that hold it: {server report jetstream} shows which are away",
    ),
    Rule(
        "UNREAD_REMOVED",
        "a stream removed messages before a consumer got them",
        "consumers",
        why="no client of it ever processes them",
        fix="read faster, or raise the limits of the stream",
    ),
    Rule(
        "CONSUMER_PAUSED",
        "a consumer is paused",
        "consumers",
        why="nothing is delivered until then",
        fix="resume it",
    ),
    Rule(
        "STARTS_LATER",
        "a consumer starts at a sequence that the stream has not reached",
        "consumers",
        why="nothing is delivered until then",
        fix="wait until the stream is there",
    ),
    Rule(
        "FALLING_BEHIND",
        "a consumer falls behind",
        "consumers",
        rounds=True,
        fix="start more clients",
    ),
)
