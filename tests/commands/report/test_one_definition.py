"""A figure is one number: in JSON, CSV, tables, on the screen, in recordings, metrics and Spark's tables."""

import asyncio
import csv
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jsctl.base.units import SECOND, parse_time_ns
from jsctl.monitor.exporter.metrics import Account, build_samples
from jsctl.monitor.report.figures.figure import Figure
from jsctl.monitor.report.figures.lists import FIGURES, list_figures
from jsctl.monitor.report.replay import Replay
from jsctl.spark.export.report_tables import SCHEMAS, build_recorded_rows
from jsctl.views.report import board
from jsctl.views.result import Cell
from jsctl.views.shared.figures import Line, build_columns
from tests.support import js
from tests.support.run import Cli

NAMES = {
    "streams": ("stream",),
    "replication": ("stream", "origin"),
    "consumers": ("stream", "consumer"),
    "servers": ("server",),
    "accounts": ("tier",),
}
"""What identifies a row."""
LABELS = {
    "streams": ("stream_name",),
    "replication": ("stream_name", "origin"),
    "consumers": ("stream_name", "consumer_name"),
    "servers": ("server_name",),
    "accounts": ("tier",),
}
"""The labels that stand for these."""

Row = Mapping[str, Any]


def record(cli: Cli, url: str, system_url: str, file: Path) -> None:
    """Record what changes from round to round."""
    js.stream(url, "ORDERS", "orders.>", max_msgs=1000, allow_direct=True)
    js.ask(url, "STREAM.CREATE.COPY", {"name": "COPY", "mirror": {"name": "ORDERS"}})
    js.publish(url, "orders.new", count=200)
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 7})
    for name in ("NEW", "OLD"):
        cli(f"consumer add ORDERS {name} --pull --defaults", status=0)
    cli("consumer next ORDERS NEW --count 5 --no-ack", status=0)
    cli(f"context add here --server {url}", status=0)
    cli(f"context add system --server {system_url}", status=0)
    for _ in range(2):
        cli(f"report --record {file} --count 1 --context here --context system", status=0)
        js.publish(url, "orders.new", count=50)


def to_number(figure: Figure, value: Any) -> float | None:
    """Return what a metric of a value is."""
    kind = figure.kind.rstrip("?")
    if kind == "text":
        return float(value is not None if figure.kind[-1] == "?" else bool(value))
    if value is None:
        return figure.metric.unknown if figure.metric else None
    return (
        parse_time_ns(value) / SECOND if kind == "time" else value / SECOND if kind == "ns" else float(value)
    )


def get_raw(value: Any) -> Any:
    return value.raw if isinstance(value, Cell) else value


@pytest.mark.slow
def test_a_figure_is_one_number_in_every_form(cli: Cli, url: str, system_url: str, tmp_path: Path) -> None:
    file = tmp_path / "rounds"
    record(cli, url, system_url, file)
    replay = Replay(file)
    places = asyncio.run(replay.show(1))
    seen = dict.fromkeys(("json", "csv", "table", "screen", "metric", "spark"), 0)
    grids = {
        "streams": board.streams,
        "replication": board.links,
        "consumers": board.consumers,
        "servers": board.servers,
        "accounts": board.accounts,
    }
    for number, (place, answered) in enumerate(zip(places, replay.places(1), strict=True)):
        answers = answered.answers
        assert answers is not None
        samples = {
            (sample.metric, *(sample.labels.get(label, "") for label in labels)): sample.value
            for sample in build_samples(place, answers, [], Account(), "all")
            for labels in LABELS.values()
        }
        stored = build_recorded_rows(answers, "", "", datetime.now(UTC))
        for kind in FIGURES:
            flags = f"--replay {file} --part {kind}"
            document = json.loads(cli(f"report {flags} --json", status=0).out.splitlines()[1])
            rows: list[Row] = document["reports"][number][kind] or []
            table = [*csv.DictReader(io.StringIO(cli(f"report {flags} --as csv", status=0).out))]
            by_name = {tuple(row[name] for name in NAMES[kind]): row for row in rows}
            written = {  # the rows of both rounds follow each other; the later ones stay
                tuple(row[name] for name in NAMES[kind]): row
                for row in table
                if row["context"] == place.context
            }
            grid = grids[kind]([place])
            for line in grid.rows:
                shown = grid.record(line)
                name = tuple(shown[part] for part in NAMES[kind])
                row = by_name[name]
                assert row.items() <= shown.items()
                for figure in list_figures(kind):
                    value = row[figure.key]
                    cell = written[name][figure.key]
                    seen["json"] += 1
                    seen["csv"] += 1
                    if isinstance(value, int | float) and not isinstance(value, bool):
                        assert float(cell) == value, (kind, figure.key)
                    elif value is None:
                        assert cell == "", (kind, figure.key)
                for column in build_columns(kind, "table"):
                    value, raw = row.get(column.key), column.get_raw(Line(line.line, row, 0))
                    if isinstance(value, int) and not isinstance(raw, str):
                        assert raw == value, (kind, column.key)
                        seen["table"] += 1
                keys = {figure.key for figure in FIGURES[kind]}
                for grid_column in build_columns(kind, "screen"):
                    assert grid_column.get_raw(line) == get_raw(grid_column.get(line)), grid_column.key
                    if grid_column.key in keys and isinstance(value := shown.get(grid_column.key), int):
                        assert grid_column.get_raw(line) in (value, None if value == 0 else value), (
                            grid_column.key
                        )
                        seen["screen"] += 1
                for figure in FIGURES[kind]:
                    if figure.metric and figure.key in shown and not (kind == "consumers" and not name):
                        expected = to_number(figure, shown[figure.key])
                        for metric in figure.metric.names:
                            assert samples.get((metric, *name)) == expected, (metric, name)
                            seen["metric"] += 1
            if kind not in SCHEMAS:
                continue
            for row in stored[kind]:
                name = tuple(row.get(part) for part in NAMES[kind])
                for figure in FIGURES[kind]:
                    column_name = figure.table_column or (figure.key if figure.key in row else "")
                    if column_name and figure.key in by_name[name]:
                        value = by_name[name][figure.key]
                        joined = ", ".join(value) if isinstance(value, list) else value
                        assert row[column_name] == joined, (kind, figure.key)
                        seen["spark"] += 1
    assert all(count > 20 for count in seen.values()), seen
