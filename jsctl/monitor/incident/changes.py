"""What changed between two rounds of a recording. No I/O.

Nothing is asked and nothing is recorded for it: what rounds hold is compared. A change happened after the
round before and not later than its own, by the clock of the machine that recorded.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from jsctl.base.units import format_exact_duration, pluralize, truncate_to_seconds
from jsctl.jetstream.api import Json
from jsctl.monitor.alerts.conditions import Row, list_rows
from jsctl.monitor.report.lines import TroubleLine
from jsctl.monitor.report.places import Answers, Place

Level = Literal["bad", "warning", "note", "good"]
_Words = tuple[str, str, Level, str]
"""Kind, name, level and words of a change."""


class Change(NamedTuple):
    """A change. at: of the round that shows it, after: of the round before, ns since 1970. kind: a word for
    programs. name: of what changed. says: what is different. why: a sentence on a problem. code: of its rule.
    key: identifies the problem that began or ended, empty for other changes. server, server_at: whose clock
    timed it, and what it showed, ns since 1970; empty and 0 if only rounds show it."""

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


class PlaceView(NamedTuple):
    """A place in a round, by the keys of its rows. outage: why it did not answer. configs: configurations of
    streams and consumers, as far as rounds have them. problems: one trouble each, by what
    identifies it. is_partial: whether
    it could not be looked at as a whole."""

    context: str
    domain: str
    outage: str
    rows: Mapping[tuple[str, ...], Row]
    configs: Mapping[tuple[str, ...], Json]
    problems: Mapping[str, TroubleLine]
    is_partial: bool = False


def build_view(place: Place, answers: Answers | None, at: float) -> PlaceView:
    """Return a place in a round. answers: of this round. at: seconds since 1970."""
    outage = place.find_outage()
    configs: dict[tuple[str, ...], Json] = {}
    for reply in answers.servers[0] if answers is not None and answers.servers is not None else ():
        if "config" in reply:
            configs["server", str((reply.get("server") or {}).get("name"))] = reply["config"]
    problems = {
        "\x1f".join([place.context, place.where, one.kind, *one.name, trouble.code]): one._replace(
            troubles=[trouble]
        )
        for one in place.problems(at)
        for trouble in one.troubles
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
                facts = (overview.consumed.get(row.stream) or {}).get("config")
                configs["stream", row.stream] = {
                    **config,
                    "max_msgs": limits.messages if limits else -1,
                    "max_bytes": limits.bytes if limits else -1,
                    **({} if facts is None else {"facts": facts}),
                }
        for info in overview.consumers or ():
            key = ("consumer", str(info["stream_name"]), str(info["name"]))
            configs[key] = {"created": info.get("created"), **(info.get("config") or {})}
    rows = {row.key: row for row in list_rows(place)}
    is_partial = any(not gap.is_chosen for gap in place.tracker.gaps)
    return PlaceView(place.context, place.where, outage, rows, configs, problems, is_partial)


def find_changes(old: PlaceView | None, new: PlaceView, at: int, after: int) -> Iterator[Change]:
    """Yield what changed in a place. old: None in its first round, in which only what is wrong is a change.
    Rows are compared only if it answered in both. at, after: ns since 1970."""

    def build(kind: str, level: Level, name: str, says: str, code: str = "", key: str = "") -> Change:
        return Change(at, after, kind, level, new.context, new.domain, name, says, code, key)

    if old is not None and not new.outage and not old.outage:
        for words in _compare_rows(old, new):
            yield build(words[0], words[2], words[1], words[3])
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


def _name_problem(view: PlaceView, problem: TroubleLine) -> str:
    place = " ".join(word for word in (view.context, view.domain) if word)
    words = " > ".join(word for word in problem.name if word)
    return f"{place}: {problem.kind} {words}" if words else place


def _compare_rows(old: PlaceView, new: PlaceView) -> Iterator[_Words]:
    for key, row in new.rows.items():
        before = old.rows.get(key)
        if before is None:
            if _is_own(row) and not old.is_partial:
                yield "appeared", row.name, "note", "appeared"
            continue
        changed = list(_compare_row(row, before.values, row.values))
        yield from changed
        # a server that starts loads its configuration
        implied = ["config_load_time"] if any(words[0] == "restarted" for words in changed) else []
        yield from _compare_configs(row.name, old.configs.get(key), new.configs.get(key), implied)
    silent = {row.values["stream"] for row in new.rows.values() if row.values["offline"]}
    for key, row in old.rows.items():
        is_unknown = new.is_partial and key[0] == "consumer"
        if key not in new.rows and _is_own(row) and not is_unknown:
            if key[0] == "consumer" and row.values["stream"] in silent:
                continue
            yield "gone", row.name, "bad", "is gone"


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


def _compare_row(row: Row, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_Words]:
    kind, name = row.key[0], row.name
    if old["created"] and new["created"] and old["created"] != new["created"]:
        yield "recreated", name, "bad", f"was removed and created again at {new['created']}"
        return
    if new["event"] in ("purged", "went back"):
        words = "was purged" if new["event"] == "purged" else "went back"
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
        yield "restarted", name, "bad", f"was started at {new['started']}"
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
        yield "replicas", name, "note", f"followers {_list(old['peers'])}, now {_list(new['peers'])}"
    if old["migration"] != new["migration"]:
        yield (
            "migration",
            name,
            "note",
            f"migration {old['migration'] or 'none'}, now {new['migration'] or 'ended'}",
        )
    errors = (new["api_errors"] or 0) - (old["api_errors"] or 0)
    if errors > 0:
        yield "API errors", name, "warning", f"{pluralize(errors, 'more request')} failed"
    for key in () if old["offline"] or new["offline"] else _CONFIGURED.get(kind, ()):
        if old[key] != new[key]:
            yield "configuration", name, "note", f"{key} {_show(key, old[key])}, now {_show(key, new[key])}"


def _list(names: Sequence[str] | None) -> str:
    return ", ".join(names or ()) or "none"


_SPANS = frozenset({"ack_wait", "inactive_threshold", "max_expires", "idle_heartbeat"})


def _compare_configs(
    name: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, implied: Sequence[str]
) -> Iterator[_Words]:
    if old is None or new is None:
        return
    if old.get("created") != new.get("created"):
        yield "recreated", name, "bad", f"was removed and created again at {new.get('created')}"
        return
    one, other = ({**config, **(config.get("facts") or {})} for config in (old, new))
    if ("facts" in old) != ("facts" in new):  # rounds have them only of a stream with consumers
        one, other = dict(old), dict(new)
    words = [
        f"{key} {_show(key, one.get(key))}, now {_show(key, other.get(key))}"
        for key in [*one, *(key for key in other if key not in one)]
        if key not in ("facts", "created", "consumers", *implied) and one.get(key) != other.get(key)
    ]
    if words:
        yield "configuration", name, "note", "; ".join(words)


def _show(key: str, value: Any) -> str:
    if key in _SPANS and isinstance(value, int):
        return format_exact_duration(truncate_to_seconds(value))
    if key.startswith("max_") and value in (None, -1):
        return "unlimited"
    return "none" if value in (None, "", [], {}) else str(value)
