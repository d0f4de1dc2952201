"""A relation that a query uses several times, and several relations of one stream: the rows are SQL's."""

import os
import random
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from jsctl.errors import BadInput
from jsctl.spark import connect
from jsctl.spark.source.batch_reader import JetStreamReader
from tests.support import js

pytestmark = pytest.mark.spark

SUBJECTS = ["S.a", "S.b", "S.b.c", "S.d"]
ROWS = 24
QUERIES = int(12 * float(os.environ.get("JSCTL_FUZZ", "1")))

VIEWS: dict[str, tuple[dict[str, str], str]] = {
    "whole": ({}, "1"),
    "some": ({"subject": "S.b.>,S.b"}, "subject LIKE 'S.b%'"),
    "other": ({"subject": "S.a"}, "subject = 'S.a'"),
    "head": ({"endingOffsets": "9"}, "sequence < 9"),
    "tail": ({"startingOffsets": "15", "columns": "subject,sequence"}, "sequence >= 15"),
    "known": ({"columns": "sequence,stream"}, "1"),
}
"""Name of a view -> its options, and which rows that means."""


@pytest.fixture
def session(spark: Any, url: str) -> Iterator[Any]:
    """A session with the setting that lets Python data sources take filters, as others may have set it."""
    session = spark.newSession()
    session.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    js.stream(url, "S", "S.>", allow_direct=True)
    chosen = random.Random(3)
    js.publish_all(url, [(chosen.choice(SUBJECTS), b"x") for _ in range(ROWS)])
    connect(session, servers=url)
    yield session


def load(session: Any, **options: str) -> Any:
    return session.read.format("jetstream").options(stream="S", **options).load()


def numbers(frame: Any) -> list[int]:
    return sorted(row.sequence for row in frame.select("sequence").collect())


def test_no_filter_of_one_use_serves_another(session: Any) -> None:
    rows = load(session)
    assert numbers(rows.filter("sequence=2").union(rows.filter("sequence=3"))) == [2, 3]
    joined = rows.filter("sequence < 5").alias("a").join(rows.filter("sequence > 2").alias("b"), "sequence")
    assert numbers(joined) == [3, 4]
    rows.createOrReplaceTempView("v")
    query = "SELECT (SELECT max(sequence) FROM v WHERE sequence < 4), (SELECT max(sequence) FROM v)"
    assert tuple(session.sql(query).first()) == (3, ROWS)


def test_options_of_one_relation_do_not_reach_another(session: Any) -> None:
    """Also where their plans look the same: Spark reuses exchanges, subqueries and cached frames."""
    first, second = (load(session, startingOffsets=str(n), endingOffsets=str(n + 1)) for n in (2, 3))
    assert numbers(first.union(second)) == [2, 3]
    assert first.select("sequence").join(second.select("sequence"), "sequence", "full").count() == 2
    first.cache()
    try:
        assert (numbers(first), numbers(second), numbers(first.union(second))) == ([2], [3], [2, 3])
    finally:
        first.unpersist()


@pytest.mark.long
def test_the_same_rows_as_another_database(session: Any) -> None:
    """Random queries, over views that were read before and over new ones."""
    database = sqlite3.connect(":memory:")
    rows = [(row.stream, row.subject, row.sequence) for row in load(session).collect()]
    database.execute("CREATE TABLE everything (stream TEXT, subject TEXT, sequence INT)")
    database.executemany("INSERT INTO everything VALUES (?, ?, ?)", rows)
    for name, (_, condition) in VIEWS.items():
        database.execute(f"CREATE VIEW {name} AS SELECT * FROM everything WHERE {condition}")
        load(session, **VIEWS[name][0]).createOrReplaceTempView(name)
    chosen = random.Random(7)
    for _ in range(QUERIES):
        for name in chosen.sample(sorted(VIEWS), 2):
            load(session, **VIEWS[name][0]).createOrReplaceTempView(name)
        query = random_query(chosen)
        expected = sorted(map(tuple, database.execute(query)))
        assert sorted(map(tuple, session.sql(query).collect())) == expected, query


def random_query(chosen: random.Random) -> str:
    """A query that uses one view at least twice; valid for Spark and for SQLite, with one number in a row."""
    one = chosen.choice(sorted(VIEWS))
    other = chosen.choice([one, chosen.choice(sorted(VIEWS))])

    def where(view: str, alias: str) -> str:
        number = chosen.randint(1, ROWS)
        kinds = [f"{alias}.sequence {sign} {number}" for sign in ("=", "<", ">=", "<>")]
        kinds.append(f"{alias}.sequence IN ({number}, {number % ROWS + 1})")
        if "columns" not in VIEWS[view][0] or "subject" in VIEWS[view][0]["columns"]:
            subject = chosen.choice(SUBJECTS)
            kinds += [f"{alias}.subject = '{subject}'", f"{alias}.subject LIKE '{subject}%'"]
        return f" {chosen.choice(['AND', 'OR'])} ".join(chosen.sample(kinds, chosen.randint(1, 2)))

    a, b, c = where(one, "a"), where(other, "b"), where(one, "c")
    first = f"SELECT a.sequence FROM {one} a WHERE ({a})"
    second = f"SELECT b.sequence FROM {other} b WHERE ({b})"
    third = f"SELECT c.sequence FROM {one} c WHERE ({c})"
    return chosen.choice(
        [
            f"{first} UNION ALL {second} UNION ALL {third}",
            f"{first} INTERSECT {third}",
            f"{first} EXCEPT {second}",
            f"{first} AND a.sequence IN ({second})",
            f"{first} AND NOT EXISTS (SELECT 1 FROM {other} b WHERE b.sequence = a.sequence AND ({b}))",
            f"{first} AND a.sequence > (SELECT coalesce(min(c.sequence), 0) FROM {one} c WHERE ({c}))",
            f"SELECT a.sequence FROM {one} a JOIN {one} c ON a.sequence > c.sequence WHERE ({a}) AND ({c})",
            f"WITH x AS ({first}), y AS ({third}) SELECT x.sequence FROM x LEFT JOIN y USING (sequence)",
            f"SELECT count(*) FROM {one} a, {other} b WHERE ({a}) AND ({b})",
        ]
    )


def test_a_reader_takes_no_filters(session: Any, url: str) -> None:
    """Spark asks readers that have this method, and then keeps the plan of one use for all."""
    assert "pushFilters" not in vars(JetStreamReader)
    with pytest.raises(BadInput, match="unknown option 'pushdown'"):
        connect(session, pushdown="true", servers=url)


def test_two_uses_of_a_streaming_frame(session: Any, tmp_path: Any) -> None:
    stream = session.readStream.format("jetstream").options(stream="S", startingOffsets="earliest").load()
    both = stream.filter("sequence=2").union(stream.filter("sequence=3"))
    query = (
        both.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "rows"))
    )
    query.awaitTermination()
    assert numbers(session.read.parquet(str(tmp_path / "rows"))) == [2, 3]
