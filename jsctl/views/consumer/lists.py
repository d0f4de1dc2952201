"""Lists and reports of consumers as people see them."""

from collections.abc import Sequence

from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.requests import Listing
from jsctl.jetstream.paging import Collected
from jsctl.monitor.consumer_reports import Row
from jsctl.units import age, exact_duration, format_count, format_server_time
from jsctl.views.consumer.info import ACKS
from jsctl.views.result import Cell, Column, Part, Result, Table, Text
from jsctl.views.stream.lists import leader_parts, plain_columns

_LIST = (
    Column("Name", "name"),
    Column("Description", "description"),
    Column("Created", "created", "time"),
    Column("Ack Pending", "ack_pending", "count"),
    Column("Unprocessed", "unprocessed", "count"),
    Column("Last Delivery", "last_delivery", "ago"),
)
_REPORT = (
    Column("Consumer", "consumer"),
    Column("Mode", "mode"),
    Column("Ack Policy", "ack_policy"),
    Column("Ack Wait", "ack_wait", "duration"),
    Column("Ack Pending", "ack_pending", "count"),
    Column("Redelivered", "redelivered", "count"),
    Column("Unprocessed", "unprocessed", "count"),
    Column("Ack Floor", "ack_floor", "count"),
    Column("Last Ack", "ack_age", "ago"),
    Column("Waiting", "waiting", "count"),
    Column("State", "state"),
    Column("Cluster", "cluster"),
)


def listing(stream: str, found: Collected[Sequence[object]]) -> Result:
    """`consumer ls`. found: their `line`s."""
    data = sorted(found.items)
    if not found.items and not found.missing and not found.offline:
        return Result([Text("No Consumers defined")], data=data)
    lines = [found.items[name] for name in data]
    gone = unreachable([Listing(stream, (), found.missing, found.offline)])
    return Result([Table("Consumers", _LIST, lines), *gone], data=data)


def report(
    rows: Sequence[Row], lists: Sequence[Listing], *, raw: bool = False, leaders: bool = False
) -> Result:
    """`consumer report`: all consumers in one table, then leaders where asked, and what is offline."""
    data = {
        "consumers": (row._asdict() for row in rows),
        "missing": {one.stream: list(one.missing) for one in lists if one.missing},
        "offline": {one.stream: dict(one.offline) for one in lists if one.offline},
    }
    one = lists[0].stream if len(lists) == 1 else ""
    gone = unreachable(lists)
    if not rows and not gone:
        return Result([Text(f"No Consumers defined on {one}" if one else "No Consumers defined")], data=data)
    parts: list[Part] = [_table(rows, one, len(lists), raw)]
    if leaders:
        parts.extend(
            leader_parts([(row.cluster or "", row.leader) for row in rows if row.leader], "Consumers")
        )
    return Result([*parts, *gone], data=data)


def unreachable(lists: Sequence[Listing]) -> list[Table]:
    """Tables of the consumers that could not be asked, where there are any."""
    tables = []
    columns = [Column("Stream", "stream"), Column("Consumer", "consumer")]
    if missing := [(one.stream, name) for one in lists for name in one.missing]:
        tables.append(Table("Inaccessible Consumers", columns, missing))
    if offline := [(one.stream, *pair) for one in lists for pair in sorted(one.offline.items())]:
        tables.append(Table("Offline Consumers", [*columns, Column("Reason", "reason")], offline))
    return tables


def line(info: Json) -> Sequence[object]:
    """The line of a consumer's info in `consumer ls`."""
    last = age((info.get("delivered") or {}).get("last_active"), info.get("ts"))
    return (
        info["name"],
        info["config"].get("description", ""),
        info.get("created"),
        int(info.get("num_ack_pending", 0)),
        int(info.get("num_pending", 0)),
        last,
    )


def _table(rows: Sequence[Row], stream: str, streams: int, raw: bool) -> Table:
    where = stream or f"{format_count(streams)} streams"
    title = f"Consumer report for {where} with {format_count(len(rows))} consumers"
    columns = plain_columns(_REPORT) if raw else list(_REPORT)
    cells = [_cells(row, raw) for row in rows]
    # A column that says nothing is left out.
    hidden = {
        at
        for at, column in enumerate(columns)
        if column.key == "state" and not any(_raw(line[at]) for line in cells)
    }
    columns = [column for at, column in enumerate(columns) if at not in hidden]
    shown = [[cell for at, cell in enumerate(line) if at not in hidden] for line in cells]
    if not stream:
        columns.insert(0, Column("Stream", "stream"))
        shown = [[row.stream, *line] for row, line in zip(rows, shown, strict=True)]
    return Table(title, columns, shown)


def _cells(row: Row, raw: bool) -> list[object]:
    pending: object = row.ack_pending
    if row.at_limit and not raw:
        pending = Cell(
            row.ack_pending, f"{format_count(row.ack_pending)} / {format_count(row.max_ack_pending)}", "bad"
        )
    unprocessed: object = row.unprocessed
    if row.unprocessed and not raw:
        share = f"{format_count(row.unprocessed)} / {int(row.share * 100)}%"
        unprocessed = Cell(row.unprocessed, share, "warn" if row.idle else "")
    wait: object = row.ack_wait if row.ack_policy != "none" else None
    return [
        row.consumer,
        Cell(row.mode, row.mode.title()),
        Cell(row.ack_policy, ACKS.get(row.ack_policy, row.ack_policy)),
        Cell(row.ack_wait, exact_duration(row.ack_wait)) if raw and wait is not None else wait,
        pending,
        Cell(row.redelivered, format_count(row.redelivered), "warn") if row.redelivered and not raw
        else row.redelivered,
        unprocessed,
        row.ack_floor,
        row.ack_age,
        row.waiting if row.mode == "pull" else Cell(int(row.bound), "bound" if row.bound else "no interest"),
        _state(row),
        _cluster(row),
    ]  # fmt: skip


def _raw(value: object) -> object:
    return value.raw if isinstance(value, Cell) else value


def _state(row: Row) -> Cell:
    said = [f"paused until {format_server_time(row.paused_until)}"] if row.paused_until else []
    said += [f"pinned {pin}" for pin in row.pinned]
    text = ", ".join(said)
    return Cell(text, text, "warn" if row.paused_until else "")


def _cluster(row: Row) -> Cell:
    names = sorted([*([f"{row.leader}*"] if row.leader else []), *row.peers])
    text = ", ".join(names)
    if row.clustered and not row.leader:
        return Cell(text, f"no leader: {text}" if text else "no leader", "bad")
    return Cell(text, text, "bad" if any(name.endswith("!") for name in names) else "")
