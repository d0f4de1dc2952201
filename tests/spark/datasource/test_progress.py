"""The progress of streaming queries: tables, metrics, and the report that shows them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from jsctl.base.units import SECOND, format_rfc3339
from jsctl.errors import BadInput, NotFound
from jsctl.monitor.report.spark_queries import LATEST, read_queries
from jsctl.spark.progress import TABLE, ProgressListener, format_prometheus_text, listen
from tests.support.run import Cli


def step(
    batch: int, end: dict[str, Any], latest: int, *, after: int = 0, rate: float = 100.0
) -> dict[str, Any]:
    """A StreamingQueryProgress as Spark writes it."""
    part = {"stream": "S", "created": "c", "from": 1, "lost": 0, "deleted": 0, **end}
    return {
        "id": "id-1",
        "runId": "run-1",
        "name": 'orders "new"',
        "timestamp": format_rfc3339(datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=after)),
        "batchId": batch,
        "sources": [
            {
                "endOffset": part,
                "latestOffset": {"stream": "S", "created": "c", "next": latest},
                "numInputRows": 50,
                "processedRowsPerSecond": rate,
            },
            {"endOffset": {"logOffset": 3}, "latestOffset": None, "numInputRows": 1},  # of another source
        ],
    }


def test_progress_is_written_for_people_and_machines(tmp_path: Path, cli: Cli) -> None:
    metrics = tmp_path / "spark.prom"
    listener = ProgressListener(tmp_path / "progress", metrics)
    listener.take(step(0, {"next": 51, "lost": 5}, 201))
    listener.take(step(1, {"next": 101, "deleted": 2}, 301, after=10))
    listener.take(step(1, {"next": 101, "deleted": 2}, 301, after=20, rate=0.0))  # idle: the same batch
    (query,) = read_queries(tmp_path / "progress")
    assert (query.query, query.stream, query.batch, query.behind) == ('orders "new"', "S", 1, 200)
    assert (query.lost, query.deleted, query.arrival, query.drain_ns) == (5, 2, 0.0, None)
    text = metrics.read_text()
    assert 'jsctl_spark_messages_behind{query="orders \\"new\\"",stream="S"} 200\n' in text
    assert 'jsctl_spark_lost_messages_total{query="orders \\"new\\"",stream="S"} 5\n' in text
    assert "# TYPE jsctl_spark_lost_messages_total counter\n" in text
    report = cli(f"report --spark {tmp_path / 'progress'}", status=0)
    assert "Spark: 1 problem" in report.out
    assert "5 lost" in report.out
    data = cli(f"report --spark {tmp_path / 'progress'} --json", status=0).json
    assert data["spark"][0]["behind"] == 200
    assert data["spark"][0]["trouble"] == ["5 lost"]
    assert "spark" not in cli("report --json", status=0).json
    listener.end("run-1", "[STREAM_FAILED] boom\n  at x")
    assert "failed: [STREAM_FAILED] boom" in cli(f"report --spark {tmp_path / 'progress'}", status=0).out
    rows = pq.read_table(tmp_path / "progress" / TABLE).to_pylist()
    assert [(row["batch"], row["behind"], row["state"]) for row in rows] == [
        (0, 150, "running"),
        (1, 200, "running"),
        (1, 200, "running"),
        (1, 200, "failed"),
    ]


def test_how_long_until_it_has_caught_up() -> None:
    listener = ProgressListener()
    queries = []
    for batch, (next, latest) in enumerate([(1001, 2001), (1501, 2501), (2501, 2501)]):
        listener.take(step(batch, {"next": next}, latest, after=10 * batch, rate=150.0))
        queries += [*listener.list_queries()]
    # Nothing is known of what arrives; 50 per second arrive; nothing is left.
    assert [one.drain_ns for one in queries] == [round(1000 / 150 * SECOND), 10 * SECOND, 0]
    listener.take(step(3, {"next": 3000}, 9000, after=31, rate=10.0))
    (last,) = listener.list_queries()
    assert last.drain_ns == -1
    assert "} +Inf\n" in format_prometheus_text([last])


def test_a_query_that_was_started_again_has_its_metrics_once() -> None:
    listener = ProgressListener()
    listener.take(step(0, {"next": 51}, 201))
    listener.end("run-1", "")
    listener.take(step(1, {"next": 101}, 201, after=10) | {"runId": "run-2", "id": "id-2"})
    (query,) = listener.list_queries()
    assert (query.batch, query.state) == (1, "running")


def test_what_cannot_be_written_ends_no_query(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    listener = ProgressListener(tmp_path / "file")
    listener._run_guarded(lambda: listener.take(step(0, {"next": 5}, 5)))
    assert "the progress of a query is not written" in caplog.text


def test_folders_that_are_something_else(tmp_path: Path, cli: Cli) -> None:
    with pytest.raises(NotFound, match="holds no progress of Spark queries"):
        read_queries(tmp_path)
    assert "holds no progress" in cli(f"report --spark {tmp_path}", status=3).err
    (tmp_path / LATEST).mkdir()
    assert "No queries yet" in cli(f"report --spark {tmp_path}", status=0).out
    for text in ("{", "[]", json.dumps({"queries": [{"query": 1}]})):
        (tmp_path / LATEST / "x.json").write_text(text)
        with pytest.raises(BadInput, match="is not the progress of a Spark query"):
            read_queries(tmp_path)


def test_places_that_it_cannot_write_to_are_refused_at_once() -> None:
    with pytest.raises(BadInput, match=r"to s3a://\.\.\. is not a folder on this machine"):
        listen(None, to="s3a://bucket/progress")  # type: ignore[arg-type]
