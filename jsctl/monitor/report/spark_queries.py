"""The progress of Spark's streaming queries, as `jsctl.spark.progress` writes it to a folder for reports."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsctl.base.files import read_text
from jsctl.base.json_text import parse_json
from jsctl.base.units import SECOND, parse_time_ns
from jsctl.errors import BadInput, NotFound

LATEST = "_latest"
"""Folder of the newest progress: a file for each query."""

SILENT = 60 * SECOND
"""ns without progress after which a query that has not ended seems to hang. Idle queries report
every 10 s.
"""

_KEYS = (
    *("query", "id", "stream", "at", "batch", "rows", "behind", "rate", "arrival", "drain_ns"),
    *("lost", "deleted", "state", "error"),
)


@dataclass(frozen=True, slots=True)
class SparkQuery:
    """A query's progress in one stream.

    query: its name, or its id without one. at: RFC 3339, UTC. batch: its number. rows: in that batch. behind:
    sequences that the stream has beyond the batch. rate: rows per second that it reads while it works.
    arrival: new sequences per second; None without two answers. drain_ns: until it has caught up; -1 for
    never, None when that is unknown. lost, deleted: messages since the query started. state: running, ended
    or failed. error: why it failed.
    """

    query: str
    id: str
    stream: str
    at: str
    batch: int
    rows: int
    behind: int
    rate: float
    arrival: float | None
    drain_ns: int | None
    lost: int
    deleted: int
    state: str = "running"
    error: str = ""

    def record(self) -> dict[str, Any]:
        """Return the progress as a JSON object."""
        return {key: getattr(self, key) for key in _KEYS}

    def is_silent(self, now: int) -> bool:
        """Return whether progress is overdue at `now` (ns since 1970)."""
        return self.state == "running" and now - parse_time_ns(self.at) > SILENT


def encode_queries(queries: Sequence[SparkQuery]) -> str:
    """Return the content of a query's file: its progress in each of its streams."""
    return json.dumps({"queries": [query.record() for query in queries]})


def read_queries(folder: Path) -> list[SparkQuery]:
    """Return the newest progress of all queries that write to a folder, by name.

    Raises NotFound when there is no such folder, BadInput for a damaged file.
    """
    latest = folder / LATEST
    if not latest.is_dir():
        raise NotFound(
            f"{folder} holds no progress of Spark queries",
            "jsctl.spark.progress.listen(spark, to=...) writes it",
        )
    queries = [query for path in sorted(latest.glob("*.json")) for query in _read_file(path)]
    return sorted(queries, key=lambda query: (query.query, query.stream))


def _read_file(path: Path) -> list[SparkQuery]:
    try:
        rows = parse_json(read_text(path, regular=True))["queries"]
        queries = [SparkQuery(**{key: row[key] for key in _KEYS}) for row in rows]
        for query in queries:
            parse_time_ns(query.at)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise BadInput(f"{path} is not the progress of a Spark query", "remove it") from None
    return queries
