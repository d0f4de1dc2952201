"""The story of an incident: what began when, what changed before, and what followed."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.units import SECOND, parse_time_ns, seconds_to_ns
from jsctl.errors import BadInput
from jsctl.monitor.alerts.conditions import Row
from jsctl.monitor.incident.advised import Advised, estimate_skews, merge_advised
from jsctl.monitor.incident.changes import (
    INTERNAL,
    QUIET,
    SLOW,
    Change,
    PlaceView,
    build_view,
    find_changes,
    fold_errors,
    is_replica_back,
)
from jsctl.monitor.incident.clients import ClientFinder
from jsctl.monitor.incident.pace import BUSY, PaceFinder
from jsctl.monitor.incident.servers import ServerFinder
from jsctl.monitor.report.places import Answers
from jsctl.monitor.report.replay import Replay
from jsctl.monitor.report.round_json import PlaceRound

_GROWING = 3
"""Rounds in which a lag grows, one after the other, from which it is a change."""

_PASSING = 2
"""Rounds after which a replica that was behind is up to date again, up to which this is ordinary."""

_SAME_ERRORS = 30 * SECOND
"""ns between two failed requests that are still one change."""


class Beginning(NamedTuple):
    """Something that went wrong. until: when it ended, ns since 1970, None if it did not. before: what
    changed in the time before, after: what else began or changed while it lasted."""

    change: Change
    until: int | None
    before: Sequence[Change]
    after: Sequence[Change]


class Sample(NamedTuple):
    """The sums of a round, for graphs. at: ns since 1970. Values are None if nothing answered."""

    at: int
    messages: int | None
    rate: float | None
    lag: int | None
    problems: int
    silent: int


class Story(NamedTuple):
    """What a recording says of a time. begin, end: ns since 1970, of its first and last round. skews: seconds
    that clocks of servers are ahead of the one that recorded, by server; by place for servers that are not
    named. is_deaf: whether advisories were not received."""

    begin: int
    end: int
    rounds: int
    changes: Sequence[Change]
    beginnings: Sequence[Beginning]
    samples: Sequence[Sample]
    skews: Mapping[str, float]
    is_deaf: bool = False

    @property
    def first(self) -> Change | None:
        """The first change that is more than ordinary; None if nothing changed. What was wrong from the
        first round on comes after all others; so do quiet streams, slow answers and servers' consumers."""
        notable = [change for change in self.changes if change.level != "good"]
        began = [
            change
            for change in notable
            if (change.after < change.at or change.server)
            and (change.level != "note" or change.kind not in (QUIET, SLOW, INTERNAL))
        ]
        return next(iter([*began, *notable]), None)


async def build_story(replay: Replay, begin: int | None, end: int | None, window: int) -> Story:
    """Return the story of a recording between two times.

    begin, end: ns since 1970, None for those of the recording. window: ns before something begins in which
    changes are shown with it. Raises BadInput for a damaged round, and for a time without rounds.
    """
    times = [seconds_to_ns(at) for at in replay.times]
    numbers = [
        number
        for number, at in enumerate(times)
        if (begin is None or at >= begin) and (end is None or at <= end)
    ]
    if not numbers:
        raise BadInput("the recording has no rounds at that time", "leave out --between to see which it has")
    builder = _Builder()
    # What is compared with, and already wrong, is known when the time begins.
    first = max(0, numbers[0] - max(2 * _GROWING, BUSY))
    for number in range(first, numbers[-1] + 1):
        places = await replay.show(number)
        rounds = replay.places(number)
        answers = [place.answers for place in rounds]
        views = [
            build_view(place, one.answers, replay.times[number], hears=one.advisories is not None)
            for place, one in zip(places, rounds, strict=True)
        ]
        after = times[max(number - 1, 0)]
        builder.add(times[number], after, views, answers)
        if number > first or number == 0:
            builder.add_advisories(times[number], after, rounds)
    builder.end()
    skews = {**builder.skews, **estimate_skews(builder.advised)}  # messages are faster than rounds
    merged = fold_errors(merge_advised(builder.changes, builder.advised, skews), _SAME_ERRORS)
    changes = [change for change in _settle_replicas(merged, times) if change.at >= times[numbers[0]]]
    return Story(
        times[numbers[0]],
        times[numbers[-1]],
        len(numbers),
        changes,
        _list_beginnings(changes, window),
        [sample for sample in builder.samples if sample.at >= times[numbers[0]]],
        skews,
        builder.is_deaf,
    )


def _settle_replicas(changes: Sequence[Change], times: Sequence[int]) -> Iterator[Change]:
    """Yield changes; that a replica was behind in a round or two, as any may be while it is busy, is no more
    than ordinary. times: of all rounds."""
    for number, change in enumerate(changes):
        if change.kind == "replicas" or (change.kind, change.code) == ("problem", "REPLICA_BEHIND"):
            limit = times[min(bisect_right(times, change.at) + _PASSING - 1, len(times) - 1)]
            later = [one for one in changes[number + 1 :] if change.at < one.at <= limit]
            is_back = any(one.name == change.name and is_replica_back(change, one) for one in later)
            yield change._replace(level="good") if is_back else change
        else:
            yield change


class _Builder:
    """What is known of the rounds so far. Views of places that do not answer are not compared."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.samples: list[Sample] = []
        self.skews: dict[str, float] = {}
        self.advised: list[Advised] = []
        self.is_deaf = False
        self._views: dict[tuple[str, str], PlaceView] = {}
        self._answered: dict[tuple[str, str], int] = {}
        self._outages: dict[tuple[str, str], PlaceView] = {}
        self._away: dict[tuple[str, str], dict[tuple[str, ...], Row]] = {}
        self._pace, self._clients, self._servers = PaceFinder(), ClientFinder(), ServerFinder()
        self._lags: dict[tuple[str, ...], list[tuple[int, int, int]]] = {}
        self._growing: set[tuple[str, ...]] = set()

    def add(self, at: int, after: int, views: Sequence[PlaceView], answers: Sequence[Answers | None]) -> None:
        for view in views:
            key = self._find_key(view)
            since = after if view.outage else self._answered.get(key, after)
            if not view.outage:
                self.changes += self._pace.find(view, at)
            self.changes += self._compare(key, view, at, since)
            self.changes += self._servers.find(view, at)
            if not view.outage:
                self._views[key], self._answered[key] = view, at
                self.changes += self._follow_lags(view, at, after)
        self.changes.sort(key=lambda change: change.at)
        self.samples.append(_build_sample(at, views))
        for own in answers:
            self._note_clocks(at, own)

    def add_advisories(self, at: int, after: int, rounds: Sequence[PlaceRound]) -> None:
        """Add the advisories that places received before a round. at, after: of the rounds."""
        for place in rounds:
            self.is_deaf |= place.advisories is None
            self.advised += self._clients.find(place, after, at)

    def end(self) -> None:
        """Add what would have been taken back by further rounds."""
        self.advised += self._clients.find_rest()

    def _find_key(self, view: PlaceView) -> tuple[str, str]:
        """Return what identifies a place, whose domain may be unknown while it does not answer."""
        key, nameless = (view.context, view.domain), (view.context, "")
        if nameless != key and nameless in self._outages and key not in self._views:
            self._outages[key] = self._outages.pop(nameless)
        return key

    def _compare(self, key: tuple[str, str], view: PlaceView, at: int, after: int) -> Iterator[Change]:
        """Yield the changes since the last round in which the place answered, and of its answering."""
        known, outage = self._views.get(key), self._outages.pop(key, None)
        away = self._away.setdefault(key, {})
        if view.outage:
            self._outages[key] = view
            merged = _merge(outage or known, view)
            yield from find_changes(outage or known, merged, at, after, away)
            self._outages[key] = merged
        elif outage is not None:
            silence = {name: one for name, one in outage.problems.items() if one.kind == "context"}
            base = known or view._replace(problems={})
            before = base._replace(problems={**base.problems, **silence})
            yield from find_changes(before, view, at, after, away)
        else:
            yield from find_changes(known, view, at, after, away)

    def _follow_lags(self, view: PlaceView, at: int, after: int) -> Iterator[Change]:
        """Yield the lags that began to grow, with the time of the first round in which they did."""
        for key, row in view.rows.items():
            lag = row.values["lag"]
            if lag is None:
                continue
            full_key = (view.context, view.domain, *key)
            run = self._lags.get(full_key, [])
            if run and lag > run[-1][2]:
                run.append((at, after, lag))
            elif not run or lag < run[-1][2] or lag == 0:
                if full_key in self._growing and lag < run[-1][2]:
                    self._growing.discard(full_key)
                    name = "\x1f".join(full_key)
                    says = f"lag {run[-1][2]:,}, now {lag:,}"
                    yield Change(
                        *(at, after, "lag falls", "good", view.context, view.domain, row.name, says),
                        key=f"lag\x1f{name}",
                    )
                run = [(at, after, lag)]
            self._lags[full_key] = run[-(_GROWING + 1) :]
            if len(run) > _GROWING and full_key not in self._growing:
                self._growing.add(full_key)
                began, before, _ = run[1]
                says = f"lag began to grow: {run[0][2]:,} to {lag:,}"
                yield Change(
                    *(began, before, "lag grows", "warning", view.context, view.domain, row.name, says),
                    key="lag\x1f" + "\x1f".join(full_key),
                )

    def _note_clocks(self, at: int, answers: Answers | None) -> None:
        for reply in answers.servers[0] if answers is not None and answers.servers is not None else ():
            server: Mapping[str, Any] = reply.get("server") or {}
            if server.get("time"):
                # A round ends after the answer, so that the largest difference is the nearest one.
                name, ahead = str(server.get("name")), (parse_time_ns(str(server["time"])) - at) / SECOND
                self.skews[name] = max(ahead, self.skews.get(name, ahead))


def _merge(last: PlaceView | None, view: PlaceView) -> PlaceView:
    """Return a place that does not answer with the problems that it had: they have not ended."""
    before = {} if last is None else {key: one for key, one in last.problems.items() if one.kind != "context"}
    return view._replace(problems={**before, **view.problems})


def _build_sample(at: int, views: Sequence[PlaceView]) -> Sample:
    rows = [row.values for view in views for row in view.rows.values()]
    streams = [row for row in rows if row["kind"] == "stream"]
    rates = [row["message_rate"] for row in streams if row["message_rate"] is not None]
    lags = [row["lag"] for row in rows if row["lag"] is not None]
    return Sample(
        at,
        sum(row["messages"] for row in streams) if streams else None,
        sum(rates) if rates else None,
        max(lags) if lags else None,
        sum(len(view.problems) for view in views),
        sum(bool(view.outage) for view in views),
    )


def _is_end(later: Change, change: Change) -> bool:
    """Return whether what changed is gone."""
    return later.kind == "gone" and later.name == change.name


def _list_beginnings(changes: Sequence[Change], window: int) -> list[Beginning]:
    """Return what went wrong, each with the changes before it and while it lasted. What began in one round is
    neither before nor after each other."""
    beginnings = []
    for number, change in enumerate(changes):
        if change.level not in ("bad", "warning"):
            continue
        ends = (
            later.at
            for later in changes[number + 1 :]
            if change.key and ((later.key == change.key and later.level == "good") or _is_end(later, change))
        )
        until = next(ends, None)
        before = [one for one in changes if change.at - window <= one.at < change.at and one.level != "good"]
        limit = change.at + window if until is None else until
        after = [one for one in changes if change.at < one.at <= limit and one.key != (change.key or None)]
        beginnings.append(Beginning(change, until, before, after))
    return beginnings
