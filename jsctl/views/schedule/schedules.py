"""Schedules: a list, one, and its next runs."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from operator import attrgetter

from jsctl.base.units import SECOND, format_rfc3339, format_time, parse_time_ns, seconds_to_ns
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.schedules import StoredSchedule
from jsctl.views.result import Cell, Column, Field, InfoPage, Result, Section, Table, build_table

_SHOWN = 3  #: next runs on a page

COLUMNS = (
    Column("Subject", "subject"),
    Column("Schedule", "schedule", read=attrgetter("pattern")),
    Column("Zone", "zone", optional=True, hideable=2),
    Column("Target", "target", hideable=1),
    Column("Source", "source", optional=True),
    Column("Next Run", "next", "time"),
    Column("Last Written", "written", "time", hideable=3),
    Column("Sequence", "sequence", "number", hideable=4),
)
RUNS = (Column("Run", "run"), Column("In", "left", "duration"))


def format_run(time: int | str, zone: tzinfo | None) -> str:
    """Return a time (ns since 1970, or RFC 3339) in a zone, None for the local one."""
    if zone is None:
        return format_time(time)
    time = parse_time_ns(time) if isinstance(time, str) else time
    return datetime.fromtimestamp(time / SECOND, UTC).astimezone(zone).isoformat(" ", "seconds")


def _list_runs(schedule: StoredSchedule, now: int, count: int) -> list[int]:
    """Return the next runs; none for a schedule that no server can read."""
    try:
        return schedule.list_runs(now, count)
    except BadInput:
        return []


def build_columns(now: int, zone: tzinfo | None) -> list[Column]:
    """Return COLUMNS for a time in ns since 1970, with times in a zone, None for the local one."""

    def read_next(schedule: StoredSchedule) -> Cell:
        runs = _list_runs(schedule, now, 1)
        return Cell(format_rfc3339(runs[0]), format_run(runs[0], zone)) if runs else Cell(None, "never")

    def read_written(schedule: StoredSchedule) -> Cell | None:
        time = schedule.written.time if schedule.written else None
        return Cell(time, format_run(time, zone)) if time else None

    reads = {"next": read_next, "written": read_written}
    return [column._replace(read=reads.get(column.key, column.read)) for column in COLUMNS]


def build_columns_of_streams(now: float) -> list[Column]:
    """Return the columns of the schedules of several streams, with local times. now: seconds since 1970."""
    return [Column("Stream", "stream"), *build_columns(seconds_to_ns(now), None)]


def listing(stream: str, schedules: Sequence[StoredSchedule], now: int, zone: tzinfo | None) -> Result:
    """Show the schedules of a stream. now: ns since 1970."""
    empty = f"Stream {stream} has no schedules"
    table = build_table(f"Schedules of {stream}", build_columns(now, zone), schedules, empty=empty)
    return Result([table])


def info(stream: str, schedule: StoredSchedule, now: int, zone: tzinfo | None) -> Result:
    """Show a schedule. now: ns since 1970."""
    runs, written = _list_runs(schedule, now, _SHOWN), schedule.written
    labels = {"Target": "target", "Source": "source", "TTL of Messages": "ttl", "Rollup": "rollup"}
    more = {label: getattr(schedule, name) for label, name in labels.items()}
    last = f"sequence {written.sequence} at {format_run(written.time, zone)}" if written else "nothing"
    fields = [
        Field("Stream", stream),
        Field("Schedule", schedule.pattern),
        *([Field("Time Zone", schedule.zone)] if schedule.zone else []),
        *(Field(label, value) for label, value in more.items() if value),
        Field("Sequence", schedule.sequence, "number"),
        Field("Stored", format_run(schedule.stored, zone)),
        Field("Next Runs", [format_run(run, zone) for run in runs] or "never"),
        Field("Last Written", last),
    ]
    return Result(
        [InfoPage(f"Schedule {schedule.subject}", [Section("", fields)])],
        data=_build_document(stream, schedule, runs),
    )


def _build_document(stream: str, schedule: StoredSchedule, runs: Sequence[int]) -> Json:
    written = schedule.written
    return {
        "stream": stream,
        "subject": schedule.subject,
        "sequence": schedule.sequence,
        "stored": schedule.stored,
        "schedule": schedule.pattern,
        "zone": schedule.zone or None,
        "target": schedule.target,
        "source": schedule.source or None,
        "ttl": schedule.ttl or None,
        "rollup": schedule.rollup or None,
        "next": [format_rfc3339(run) for run in runs],
        "written": {"sequence": written.sequence, "time": written.time} if written else None,
    }


def next_runs(schedule: StoredSchedule, now: int, count: int, zone: tzinfo | None) -> Result:
    """Show the next runs of a schedule. now: ns since 1970."""
    rows = [
        (Cell(format_rfc3339(run), format_run(run, zone)), max(run - now, 0))
        for run in schedule.list_runs(now, count)
    ]
    return Result([Table(f"Next Runs of {schedule.subject}", RUNS, rows, empty="It does not run any more")])
