"""`jsctl report`: several contexts and domains, their streams, replication and consumers."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from jsctl.base.command_lines import build_line
from jsctl.base.units import (
    format_rfc3339,
    format_time,
    pluralize,
    seconds_to_ns,
    to_ns,
)
from jsctl.errors import ExitStatus
from jsctl.monitor.report.figures.lists import list_figures
from jsctl.monitor.report.listings import LISTED
from jsctl.monitor.report.places import DEFAULT_PREFIX, Place, name_failure
from jsctl.monitor.report.spark_queries import SparkQuery
from jsctl.monitor.report.tracking import LOOKED_AT, Tracker
from jsctl.monitor.trouble import BAD, WARN, Gap
from jsctl.views.report import spark_queries
from jsctl.views.report.choice import EMPTY, LISTS, Choice, Lines, build_lines
from jsctl.views.report.panes import Pane
from jsctl.views.result import Cell, Column, Part, Result, Table, Text, build_cells
from jsctl.views.shared.figures import STYLES, Line, build_columns

if TYPE_CHECKING:
    from jsctl.views.report.listings import Records

_ALL = Choice()
_TITLES = {
    "streams": "Stream Report",
    "replication": "Replication Report",
    "consumers": "Consumer Report",
    "servers": "Server Report",
    "accounts": "Account Report",
}
_SHOWN = ("streams", "replication", "consumers")
"""The lists that people see if they choose none."""

_MORE = ("servers", "accounts")


def document(
    places: Sequence[Place],
    now: float,
    queries: Sequence[SparkQuery] | None = None,
    choice: Choice = _ALL,
    sort: str = "name",
) -> dict[str, Any]:
    """Return the JSON form: `{"at", "reports": [{"context", "domain", "at", "error", "trouble", "login",
    "not_checked", "as_of", "streams", "replication", "consumers", "servers", "accounts"}]}`, with the
    list of a part in LISTED if that was chosen, and `spark` with queries of Spark if they were requested.

    `trouble` is all that is wrong with the login, account, streams, mirrors, sources and consumers; the same
    stands with each of them. `not_checked` is what was not looked at, and is neither well nor wrong; `as_of`
    is when each part was looked at, null for never. Times are RFC 3339 in UTC; `error` is null when all is
    well, and the lists are empty when it is not, and have the chosen rows otherwise; the last three are null
    when they were not asked for or this login may not; rates are null without two answers. now: seconds since
    1970."""
    reports = []
    for place in places:
        outage, tracker = place.find_outage(choice.part), place.tracker
        lines = (
            dict.fromkeys(LISTS, ())
            if outage and place.find_outage("servers")
            else choice.choose(build_lines(tracker, sort), _name_place(place, places))
        )
        listed = _list_listed(place, places, choice, now, sort)
        gaps = _list_gaps(place)
        if listed is not None and listed.rows is None and not outage:
            gaps = [*gaps, Gap(choice.part, listed.why)]
        reports.append(
            {
                "context": place.context,
                "domain": place.domain,
                "at": _format_utc(place.tried_at),
                "error": outage or None,
                "trouble": [] if place.find_outage() else _list_troubles(tracker),
                "login": {
                    "trouble": [trouble.words for trouble in tracker.login],
                    "codes": [trouble.code for trouble in tracker.login],
                },
                "not_checked": [{"part": gap.part, "why": gap.why} for gap in gaps],
                "as_of": {
                    part: None if at is None else format_rfc3339(to_ns(at))
                    for part, at in tracker.as_of.items()
                },
                **{
                    kind: None if rows is None else [row.record for row in rows]
                    for kind, rows in lines.items()
                },
                **({} if listed is None else {choice.part: listed.list_records()}),
            }
        )
    spark = {} if queries is None else {"spark": spark_queries.records(queries, now)}
    return {"at": _format_utc(now), "reports": reports, **spark}


def _list_listed(
    place: Place, places: Sequence[Place], choice: Choice, now: float, sort: str
) -> "Records | None":
    """Return the list that is fetched only where its part is chosen; None if that is another."""
    if choice.part not in LISTED:
        return None
    from jsctl.views.report.listings import list_rows  # other reports do not need it

    return list_rows(place, choice.part, now, sort, choice.search, _name_place(place, places))


def _list_gaps(place: Place) -> Sequence[Gap]:
    """Return what was not looked at. Nothing was where a place did not answer."""
    outage = place.find_outage()
    return [Gap(part, outage) for part in LOOKED_AT] if outage else place.tracker.gaps


def unchecked(places: Sequence[Place], part: str = "", *, is_last: bool = False) -> list[str]:
    """Return what could not be looked at, a sentence each, without what a flag left out. A place that has
    not had the time to answer counts in the last round alone. part: `servers` where they are enough of a
    place without streams."""
    sentences = []
    for place in places:
        if place.failure is not None:
            whys = [place.failure.message]
        elif place.is_system and part != "servers":
            whys = ["the account has no JetStream; only its servers are known"]
        elif outage := place.find_outage():
            whys = [outage] if is_last else []
        else:
            whys = [gap.why for gap in place.tracker.gaps if not gap.is_chosen]
        sentences += [f"{name_place(place)}: {why}" for why in whys]
    return sentences


def _list_troubles(tracker: Tracker) -> list[str]:
    words = [trouble.words for trouble in tracker.account_troubles]
    for stream in tracker.streams or ():
        words += [f"stream {stream.row.stream}: {trouble.words}" for trouble in stream.troubles]
    for link in tracker.links or ():
        name = f"{link.row.kind} {link.row.origin} of stream {link.row.stream}"
        words += [f"{name}: {trouble.words}" for trouble in link.troubles]
    for consumer in tracker.consumers or ():
        name = f"consumer {consumer.stream} > {consumer.consumer}"
        words += [f"{name}: {trouble.words}" for trouble in consumer.troubles]
    return words


def result(
    places: Sequence[Place],
    now: float,
    sort: str,
    *,
    timed: bool = False,
    queries: Sequence[SparkQuery] | None = None,
    choice: Choice = _ALL,
) -> Result:
    """Return the static form: the panes one below the other. now: seconds since 1970. timed: with the time on
    the first line."""
    parts: list[Part] = []
    if timed:
        parts.append(Text(format_time(seconds_to_ns(now)), "bold"))
    if queries is not None:
        part = spark_queries.pane(queries, now)
        parts.append(Text(f"{part.title}: {part.summary.text}", part.summary.style or "bold"))
        parts.extend([*part.messages, *part.tables])
    for place in places:
        listed = _list_listed(place, places, choice, now, sort)
        part = _build_pane(place, sort, choice, _name_place(place, places), listed)
        # Only the live screen shows tables from before a failure.
        parts.append(Text(f"{part.title}: {part.summary.text}", part.summary.style or "bold"))
        parts.extend(part.messages)
        if not place.find_outage(choice.part):
            parts.extend(part.tables)
    data = partial(document, places, now, queries, choice, sort)
    return Result(parts, data, _find_status(places))


def flat(places: Sequence[Place], now: float, choice: Choice = _ALL, sort: str = "name") -> Result:
    """Return the form for CSV and TSV: streams, replication and consumers, or what is wrong where that alone
    is chosen, with context and domain in every row. now: seconds since 1970."""
    reports = document(places, now, choice=choice, sort=sort)["reports"]
    parts = []
    if choice.part == "problems" or (choice.problems and not choice.part):
        return Result([_build_problem_table(places, now, choice)], reports, _find_status(places))
    if choice.part in LISTED:
        from jsctl.views.report.listings import list_keys  # other reports do not need it

        keys = ["context", "domain", *list_keys(choice.part)]
        values = [
            [report["context"], report["domain"], *row.values()]
            for report in reports
            for row in report[choice.part] or ()
        ]
        parts = [Table(choice.part, [Column(key, key) for key in keys], values)]
        return Result(parts, reports, _find_status(places))
    for kind in (choice.part,) if choice.part in LISTS else _SHOWN:
        rows = [
            {"context": report["context"], "domain": report["domain"], **row}
            for report in reports
            for row in report[kind] or ()
        ]
        if rows or kind in ("streams", choice.part):
            keys = ["context", "domain", *(figure.key for figure in list_figures(kind))]
            parts.append(
                Table(kind, [Column(key, key) for key in keys], [list(row.values()) for row in rows])
            )
    return Result(parts, reports, _find_status(places))


def _build_problem_table(places: Sequence[Place], now: float, choice: Choice) -> Table:
    """Return what is wrong with all kinds of things. now: seconds since 1970."""
    keys = ("context", "domain", "kind", "name", "bad", "trouble", "codes")
    rows = [
        (place.context, place.domain, line.kind, name, line.level == BAD, line.words, codes)
        for place in places
        for line in place.problems(now)
        if (name := " > ".join(line.name), codes := [trouble.code for trouble in line.troubles])
        and (choice.search is None or choice.search.takes(f"{place.title} {name} {line.words}"))
    ]
    return Table("problems", [Column(key, key) for key in keys], rows)


def failures(places: Sequence[Place]) -> list[str]:
    """Return what could not be fetched, one sentence each."""
    sentences = []
    for place in places:
        outage = place.find_outage()
        whys = [outage] if outage else [gap.why for gap in _list_gaps(place) if not gap.is_chosen]
        sentences += [f"{name_place(place)}: {why}" for why in whys]
    return sentences


def _name_state(place: Place) -> str:
    return "late" if place.failure is None else name_failure(place.failure)


def _find_status(places: Sequence[Place]) -> ExitStatus:
    failed = [place.failure for place in places if place.failure is not None]
    if not failed:
        return ExitStatus.OK
    return failed[0].status if len(places) == 1 else ExitStatus.UNREACHABLE


def _name_place(place: Place, places: Sequence[Place]) -> str:
    """Return what a filter searches beside the rows: the title, if there are several places."""
    return name_place(place) if len(places) > 1 else ""


def _build_pane(place: Place, sort: str, choice: Choice, name: str, listed: "Records | None") -> Pane:
    """Return one context and domain for people. Its summary is of all rows, also of those not chosen.
    name: what a filter searches beside them. listed: the chosen list, if it is one of LISTED."""
    tracker, outage = place.tracker, _explain_outage(place, choice)
    if not place.has_part(choice.part):
        return _build_unanswered_pane(place, outage)
    lines = build_lines(tracker, sort)
    chosen = choice.choose(lines, name)
    shown = ("servers",) if place.is_system else _SHOWN
    watched = tracker.rounds > 1 or any(line.received is not None for line in tracker.servers or ())
    tables = [
        _build_table(title, kind, rows, watched)
        for kind, title in _TITLES.items()
        if (rows := chosen[kind]) and (kind in shown or kind == choice.part)
    ]
    if listed is not None and listed.rows:
        tables.append(listed.build_table(choice.part))
    everything = [row for kind in shown for row in lines[kind] or ()]
    account_levels = [BAD if trouble.bad else WARN for trouble in tracker.account_troubles]
    messages = [Text(outage, "bad")] if outage else []
    messages += [
        Text(trouble.words, STYLES[level])
        for trouble, level in zip(tracker.account_troubles, account_levels, strict=True)
    ]
    messages += [Text(f"not checked: {gap.why}", "dim" if gap.is_chosen else "warn") for gap in tracker.gaps]
    if listed is not None and listed.rows is None:
        messages.append(Text(f"not checked: {listed.why}", "warn"))
    codes = {trouble.code for row in everything for trouble in row.line.troubles}
    if codes & {"STREAM_NO_LEADER", "CONSUMER_NO_LEADER"}:
        line = build_line("doctor", place=place.flags)
        messages.append(Text(f"why there is no leader, and what to do: {line}", "bad"))
    messages += _explain_empty(place, lines, choice.part, listed, has_tables=bool(tables))
    summary = _summarize(place, outage, [*account_levels, *(row.level for row in everything)])
    return Pane(name_place(place), summary, messages, tables)


def _explain_outage(place: Place, choice: Choice) -> str:
    return place.failure.message if place.failure is not None else place.find_outage(choice.part)


def _build_unanswered_pane(place: Place, outage: str) -> Pane:
    """Return a place of which nothing is known."""
    if place.failure is None:
        messages = [Text(outage, "bad")] if place.error else []
        return Pane(name_place(place), Text("connecting", "dim"), messages)
    hint = f"what is wrong with it: {build_line('doctor', place=place.flags)}"
    return Pane(name_place(place), Text(_name_state(place), "bad"), [Text(outage, "bad"), Text(hint)])


def _explain_empty(
    place: Place,
    lines: Lines,
    part: str,
    listed: "Records | None",
    *,
    has_tables: bool,
) -> list[Text]:
    """Return why there are no tables, or only those of a place without streams."""
    is_more = part in _MORE or listed is not None
    if place.is_system and not is_more:
        return [Text("the system account has servers, and no streams", "dim")]
    if not lines["streams"] and not is_more:
        return [Text("No Streams defined")]
    if has_tables or (listed is not None and listed.rows is None):
        return []
    if is_more and not (lines[part] if listed is None else place.tracker.listings[part].rows):
        return [Text(EMPTY[part], "dim")]
    return [Text("No rows to show", "dim")]


def _summarize(place: Place, outage: str, levels: Sequence[int]) -> Text:
    """Return the line beside the name of a place. levels: of all that is wrong."""
    gaps = place.tracker.gaps
    if outage:
        since = "" if place.at is None else f", as of {format_time(seconds_to_ns(place.at))}"
        return Text(f"{_name_state(place)}{since}", "bad")
    is_complete = all(gap.is_chosen for gap in gaps)
    bad, warned = levels.count(BAD), levels.count(WARN)
    words = [pluralize(bad, "problem")] if bad else []
    words += [pluralize(warned, "warning")] if warned else []
    if words:
        words += [] if is_complete else ["not everything was checked"]
        return Text(", ".join(words), STYLES[BAD if bad else WARN])
    if not is_complete:
        return Text("nothing wrong found, but not everything was checked", "warn")
    left_out = " and ".join(sorted({gap.part for gap in gaps}))
    return Text(f"all well, without {left_out}" if gaps else "all well", "good")


def _build_table(title: str, kind: str, rows: Sequence[Line], watched: bool) -> Table:
    heads = [
        column
        for column in build_columns(kind, "table", with_rates=watched)
        if not column.optional or any(map(column.get_raw, rows))
    ]
    cells = build_cells(rows, heads)
    if any(row.level for row in rows):
        heads.append(Column("Trouble", "trouble", "prose"))
        for line, row in zip(cells, rows, strict=True):
            words = row.record["trouble"]
            line.append(Cell(words, ", ".join(words), STYLES[row.level]))
    return Table(title, heads, cells)


def _format_utc(moment: float | None) -> str | None:
    return None if moment is None else format_rfc3339(seconds_to_ns(moment))


def name_place(place: Place) -> str:
    """Return the context, or the address without one; with the domain or the API prefix, if there is
    one.
    """
    name = place.context
    if place.domain:
        return f"{name} · domain {place.domain}"
    return name if place.prefix == DEFAULT_PREFIX else f"{name} · {place.prefix}"
