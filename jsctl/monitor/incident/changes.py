"""What changed between two rounds of a recording. No I/O.

Nothing is asked and nothing is recorded for it: what rounds hold is compared. A change happened after the
round before and not later than its own, by the clock of the machine that recorded.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.units import format_exact_duration, format_time, parse_time_ns, pluralize
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.kind import is_server_metadata
from jsctl.jetstream.config.schema import without_metadata
from jsctl.jetstream.consumer.requests import is_reader
from jsctl.monitor.alerts.conditions import Row, list_rows, name_place
from jsctl.monitor.incident.consumers import Level, Words, compare_consumers
from jsctl.monitor.report.lines import TroubleLine
from jsctl.monitor.report.overview import USUAL_SETTINGS
from jsctl.monitor.report.places import Answers, Place
from jsctl.monitor.trouble import Trouble

API_ERRORS, FAILED = "API errors", "more requests failed"
QUIET = "quiet"
"""The kind of a stream into which nothing is published any more, as when all has been."""
INTERNAL = "internal consumer"
"""The kind of what servers do with consumers of their own, which follows from what befell a copy."""
SLOW = "slow answers"
"""The kind of a server that answers late, as busy ones do."""
LOST = "shrank"
"""What a stream did of which many messages are gone: by a purge, a lower limit, or their age."""


class Change(NamedTuple):
    """A change. at: of the round that shows it, after: of the round before, ns since 1970. kind: a word for
    programs. name: of what changed. says: what is different. why: a sentence on a problem. code: of its rule.
    key: identifies the problem that began or ended, empty for other changes. server, server_at: whose clock
    timed it, and what it showed, ns since 1970; empty and 0 if only rounds show it. times: how many requests
    failed, for API errors, of which `says` tells without the number."""

    at: int
    after: int
    kind: str
    level: Level
    context: str
    domain: str
    name: str
    says: str
    code: str = ""
    key: str = ""
    why: str = ""
    server: str = ""
    server_at: int = 0
    times: int = 0


class PlaceView(NamedTuple):
    """A place in a round, by the keys of its rows. outage: why it did not answer. configs: configurations of
    streams and consumers, as far as rounds have them. problems: one trouble each, by what identifies it.
    statistics: what servers count, by name. is_partial: whether it could not be looked at as a whole. hears:
    whether advisories tell of each request that failed."""

    context: str
    domain: str
    outage: str
    rows: Mapping[tuple[str, ...], Row]
    configs: Mapping[tuple[str, ...], Json]
    problems: Mapping[str, TroubleLine]
    statistics: Mapping[str, Json] = {}
    is_partial: bool = False
    hears: bool = False


def build_view(place: Place, answers: Answers | None, at: float, *, hears: bool) -> PlaceView:
    """Return a place in a round. answers: of this round. at: seconds since 1970. hears: see PlaceView."""
    outage = place.find_outage()
    configs: dict[tuple[str, ...], Json] = {}
    statistics: dict[str, Json] = {}
    for reply in answers.servers[0] if answers is not None and answers.servers is not None else ():
        name = str((reply.get("server") or {}).get("name"))
        statistics[name] = {**(reply.get("statsz") or {}), "rtt": reply.get("rtt")}
        if "config" in reply:
            configs["server", name] = reply["config"]
    problems = {
        "\x1f".join([place.context, place.where, one.kind, *one.name, *_identify(trouble)]): one._replace(
            troubles=[trouble]
        )
        for one in place.problems(at)
        for trouble in one.troubles
        if trouble.code != "SERVER_SILENT"  # that it no longer answers is told of the first round
    }
    if outage and place.find_outage("servers"):
        problems = {key: one for key, one in problems.items() if one.kind == "context"}
        return PlaceView(place.context, place.where, outage, {}, {}, problems)
    overview = answers.overview if answers is not None else None
    if overview is not None:
        for row in overview.streams:
            if row.offline is None:
                limits = overview.limits.get(row.stream)
                config = {"replicas": row.replicas, "placement": row.placement, "api_level": row.api_level}
                settings, kind = overview.settings.get(row.stream), "settings"
                if settings is None:  # older recordings have some settings of streams with consumers
                    settings, kind = (overview.consumed.get(row.stream) or {}).get("config"), "facts"
                configs["stream", row.stream] = {
                    **config,
                    "retention": limits.retention if limits else "limits",
                    "max_msgs": limits.messages if limits else -1,
                    "max_bytes": limits.bytes if limits else -1,
                    **({} if settings is None else {kind: settings}),
                }
        for info in overview.consumers or ():
            key = ("consumer", str(info["stream_name"]), str(info["name"]))
            floor = (info.get("ack_floor") or {}).get("stream_seq")
            known = {"created": info.get("created"), "floor": floor, "waiting": info.get("num_waiting")}
            if not (info.get("cluster") or {}).get("replicas"):
                known["delivered"] = info.get("delivered") or {}
            configs[key] = {**known, **(info.get("config") or {})}
    rows = {
        row.key: row for row in list_rows(place) if not (row.key[0] == "consumer" and is_reader(row.key[2]))
    }
    is_partial = any(not gap.is_chosen for gap in place.tracker.gaps)
    return PlaceView(
        place.context, place.where, outage, rows, configs, problems, statistics, is_partial, hears
    )


def _identify(trouble: Trouble) -> tuple[str, str]:
    """Return the code of a trouble and which one it is, as there is one for each replica and each limit."""
    replica = re.match(r"replica (\S+)", trouble.words)
    limit = trouble.words.partition(" of ")[2] if trouble.code == "LIMIT_NEAR" else ""
    return trouble.code, replica[1] if replica else limit


def find_changes(
    old: PlaceView | None, new: PlaceView, at: int, after: int, away: MutableMapping[tuple[str, ...], Row]
) -> Iterator[Change]:
    """Yield what changed in a place. old: None in its first round, in which only what is wrong is a change.
    Rows are compared only if it answered in both. at, after: ns since 1970. away: servers that no longer
    answer, which it keeps."""

    def build(kind: str, level: Level, name: str, says: str, code: str = "", key: str = "") -> Change:
        return Change(at, after, kind, level, new.context, new.domain, name, says, code, key)

    if old is not None and not new.outage and not old.outage:
        for words in _compare_rows(old, new, away):
            yield build(words[0], words[2], words[1], words[3])
        for name, errors in _count_errors(old, new):
            yield build(API_ERRORS, "note", name, FAILED)._replace(times=errors)
    for key, problem in new.problems.items():
        if old is None or key not in old.problems:
            (trouble,) = problem.troubles
            level: Level = "bad" if trouble.bad else "warning"
            change = build("problem", level, _name_problem(new, problem), trouble.words, trouble.code, key)
            yield change._replace(why=trouble.says)
    for key, problem in ({} if old is None else old.problems).items():
        if key not in new.problems and (not new.outage or problem.kind == "context"):
            name = _name_problem(new, problem)
            says = f"ended: {problem.words}"
            yield build("problem ended", "good", name, says, problem.troubles[0].code, key)


def _count_errors(old: PlaceView, new: PlaceView) -> Iterator[tuple[str, int]]:
    """Yield by name how many more requests failed, as far as no advisories tell of each."""
    for key, row in new.rows.items():
        if key in old.rows and not (key[0] == "account" and new.hears):
            errors = (row.values["api_errors"] or 0) - (old.rows[key].values["api_errors"] or 0)
            if errors > 0:
                yield row.name, errors


def fold_errors(changes: Iterable[Change], within: int) -> list[Change]:
    """Return changes; requests that go on failing in one way are one change, with their number. within: ns
    between two of them."""
    kept: list[Change] = []
    last: dict[tuple[str, str], tuple[int, int]] = {}
    for change in changes:
        number, at = last.get((change.name, change.says), (0, -within - 1))
        if change.times:
            is_new = change.at - at > within
            last[change.name, change.says] = (len(kept) if is_new else number), change.at
            if not is_new:
                kept[number] = kept[number]._replace(times=kept[number].times + change.times)
                continue
        kept.append(change)
    return [change._replace(says=_say_errors(change)) if change.times else change for change in kept]


def _say_errors(change: Change) -> str:
    if change.says == FAILED:
        return f"{pluralize(change.times, 'more request')} failed"
    return f"{change.says} ({change.times:,} times)" if change.times > 1 else change.says


def _name_problem(view: PlaceView, problem: TroubleLine) -> str:
    place = name_place(view.context, view.domain)
    words = " > ".join(word for word in problem.name if word)
    return f"{place}: {problem.kind} {words}" if words else place


def _compare_rows(
    old: PlaceView, new: PlaceView, away: MutableMapping[tuple[str, ...], Row]
) -> Iterator[Words]:
    for key, row in new.rows.items():
        before = old.rows.get(key)
        if before is None and (known := away.pop(key, None)) is not None:
            yield "appeared", row.name, "note", "answers again"
            before = known
        if before is None:
            if _is_own(row) and not old.is_partial:
                yield "appeared", row.name, "note", "appeared"
            continue
        changed = list(_compare_row(row, before.values, row.values))
        yield from changed
        # a server that starts loads its configuration
        implied = ["config_load_time"] if any(words[0] == "restarted" for words in changed) else []
        yield from _compare_configs(row.name, old.configs.get(key), new.configs.get(key), implied)
        if before.values["leader"] == row.values["leader"]:  # another one may know less for a moment
            yield from compare_consumers(row.name, old.configs.get(key), new.configs.get(key))
    silent = {row.values["stream"] for row in new.rows.values() if row.values["offline"]}
    for key, row in old.rows.items():
        is_unknown = new.is_partial and key[0] == "consumer"
        if key not in new.rows and _is_own(row) and not is_unknown:
            if key[0] == "consumer" and row.values["stream"] in silent:
                continue
            if key[0] == "server":  # whether it stopped or cannot be reached is not known
                away[key] = row
            yield "gone", row.name, "bad", "no longer answers" if key[0] == "server" else "is gone"


def _is_own(row: Row) -> bool:
    """Return whether a row is there as long as what it is about; servers that a login may not ask are known
    from the streams that they hold alone."""
    kind = row.key[0]
    return kind not in ("login", "account") and (kind != "server" or bool(row.values["started"]))


_CONFIGURED: Mapping[str, Sequence[str]] = {
    "stream": ("storage", "cluster"),
    "account": ("max_streams", "max_consumers", "max_file", "max_memory"),
    "server": ("version", "cluster"),  # limits that are not configured follow the free space at the start
}


def _compare_row(row: Row, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Words]:
    kind, name = row.key[0], row.name
    if old["created"] and new["created"] and old["created"] != new["created"]:
        yield "recreated", name, "bad", f"was removed and created again at {show_time(new['created'])}"
        return
    if new["event"] in ("purged", "went back"):
        words = LOST if new["event"] == "purged" else "went back"
        yield (
            new["event"],
            name,
            "bad",
            f"{words}: {old['messages']:,} messages before, {new['messages']:,} now",
        )
    if old["leader"] != new["leader"]:
        level: Level = "note" if new["leader"] else "bad"
        words = f"leader {old['leader'] or 'none'}, now {new['leader'] or 'none'}"
        yield "leader changed", name, level, words
    if kind == "server" and old["started"] and new["started"] and old["started"] != new["started"]:
        yield "restarted", name, "bad", f"was started at {show_time(new['started'])}"
    if kind == "server" and old["meta_leader"] != new["meta_leader"]:
        yield (
            "leader changed",
            name,
            "note",
            ("leads" if new["meta_leader"] else "no longer leads") + " the meta group",
        )
    if kind == "server" and new["meta_rescue"] is not None and bool(old["meta_rescue"]) != new["meta_rescue"]:
        yield (
            "rescue",
            name,
            "bad",
            "acts without a majority" if new["meta_rescue"] else "has a majority again",
        )
    if kind == "stream" and old["peers"] != new["peers"] and old["leader"] == new["leader"]:
        words = _compare_followers(old["peers"] or (), new["peers"] or ())
        is_good = words.endswith(_BACK) and _BEHIND not in words
        yield "replicas", name, "good" if is_good else "note", words
    if old["migration"] != new["migration"]:
        words = f"moves between servers: {new['migration']}" if new["migration"] else "moves no longer"
        yield "migration" if new["migration"] else "migration ended", name, "note", words
    for key in () if old["offline"] or new["offline"] else _CONFIGURED.get(kind, ()):
        if old[key] != new[key]:
            yield "configuration", name, "note", f"{key} {_show(key, old[key])}, now {_show(key, new[key])}"


_BEHIND, _BACK = "offline or behind", "up to date again"


def _compare_followers(old: Sequence[str], new: Sequence[str]) -> str:
    """Say how followers changed; `name!` is one that is offline or behind."""
    if sorted(name.rstrip("!") for name in old) != sorted(name.rstrip("!") for name in new):
        before, now = ([name.rstrip("!") for name in names] for names in (old, new))
        return f"followers {_list(before)}, now {_list(now)}"
    lost = [name.rstrip("!") for name in new if name.endswith("!") and name not in old]
    back = [name.rstrip("!") for name in old if name.endswith("!") and name not in new]
    words = [f"{_name_followers(lost)} {_BEHIND}" if lost else ""]
    words.append(f"{_name_followers(back)} {_BACK}" if back else "")
    return ", ".join(filter(None, words)) or f"followers {_list(old)}, now {_list(new)}"


def is_replica_back(change: Change, later: Change) -> bool:
    """Return whether a replica that a change says to be behind is up to date again, by a later one."""
    if change.kind == "problem":
        return later.kind == "problem ended" and later.key == change.key
    return change.says.endswith(_BEHIND) and later.kind == "replicas" and later.says.endswith(_BACK)


def _list(names: Sequence[str] | None) -> str:
    return ", ".join(names or ()) or "none"


def _name_followers(names: Sequence[str]) -> str:
    return f"follower {names[0]} is" if len(names) == 1 else f"followers {_list(names)} are"


_SPANS = frozenset({"ack_wait", "inactive_threshold", "max_expires", "idle_heartbeat", "backoff"})
_SPANS |= {"max_age", "duplicate_window", "subject_delete_marker_ttl"}
_NOT_SAID = frozenset({"settings", "facts", "created", "floor", "delivered", "waiting", "consumers"})
_NOT_SAID |= {"num_replicas"}
"""Keys of which rows say what they are."""


def _compare_configs(
    name: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, implied: Sequence[str]
) -> Iterator[Words]:
    if old is None or new is None:
        return
    if old.get("created") != new.get("created"):
        yield "recreated", name, "bad", f"was removed and created again at {show_time(new.get('created'))}"
        return
    kind = next((kind for kind in ("settings", "facts") if kind in old and kind in new), "")
    one, other = (_list_settings(config, kind) for config in (old, new))
    changed = [key for key in {**one, **other} if key not in implied and one.get(key) != other.get(key)]
    if len(changed) > 1 and "api_level" in changed:
        changed.remove("api_level")  # which follows from the others
    words = [_say_setting(key, one.get(key), other.get(key)) for key in changed]
    if words:
        yield "configuration", name, "note", "; ".join(words)


def _list_settings(config: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return what is configured; without what servers add by themselves. kind: key of the settings that both
    rounds have, empty if only one has them."""
    usual = USUAL_SETTINGS if kind == "settings" else {}
    flat = without_metadata({**usual, **config, **(config.get(kind) or {})}, is_server_metadata)
    return {key: value for key, value in flat.items() if key not in _NOT_SAID and value not in ({}, None)}


def _say_setting(key: str, old: Any, new: Any) -> str:
    if isinstance(old or new, bool):
        return f"{key} {_show_switch(old)}, now {_show_switch(new)}"
    return f"{key} {_show(key, old)}, now {_show(key, new)}"


def _show_switch(value: Any) -> str:
    return "true" if value else "false"


def show_time(value: Any) -> str:
    """Return a time that a server wrote, in RFC 3339, to the second."""
    return format_time(parse_time_ns(str(value))) if value else "an unknown time"


_DIGEST = len("sha256:") + 8
"""Characters that tell two digests of configurations apart."""


def _show(key: str, value: Any) -> str:
    if key == "pause_until" and value:
        return show_time(value)
    if isinstance(value, list) and value:
        return ", ".join(_show(key, each) for each in value)
    if key in _SPANS and isinstance(value, int):
        return format_exact_duration(value)
    if key.startswith("max_") and value in (None, -1):
        return "unlimited"
    if key == "config_digest" and value:
        return str(value)[:_DIGEST]
    return "none" if value in (None, "", [], {}) else str(value)
