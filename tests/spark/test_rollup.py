"""Spark SQL and plain Python roll the same samples up to the same numbers."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jsctl.spark.export.report_tables import SCHEMAS
from jsctl.spark.rollup.definition import PERIODS, REPORTS, RollupReport
from jsctl.spark.rollup.recorded import roll_up_samples
from jsctl.spark.rollup.rollup import build_statement
from tests.support.samples import BEGIN, build_sample

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

RECORDINGS = 80


def record(numbers: random.Random, report: RollupReport, context: str) -> Iterator[dict[str, Any]]:
    """Yield samples of one subject: counters that rise, restart and fall, gaps, purges, missing values."""
    counts = dict.fromkeys((*report.counters, "bytes"), 0)
    created, minute = BEGIN, 0.0
    for _ in range(numbers.choice([1, 2, 3, 10])):
        minute += numbers.choice([0.001, 1, 1, 10, 70, 2000])
        for name in counts:
            counts[name] += numbers.choice([0, 0, 1, numbers.randrange(1000)])
        match numbers.randrange(8):
            case 0:  # restarted, or created again, and perhaps already further than before
                counts = {name: numbers.randrange(2000) for name in counts}
                created += timedelta(microseconds=1)
            case 1:  # set back
                counts = {name: count // 2 for name, count in counts.items()}
            case 2:  # purged
                counts["bytes"] = 0
        values: dict[str, Any] = {
            column.name: numbers.choice([0, 1, numbers.randrange(10**6)])
            for column in SCHEMAS[report.name].columns
            if column.type in ("long", "duration")
        }
        values |= {name: count for name, count in counts.items() if name in values}
        values |= {"created": created, "max_bytes": numbers.choice([None, 1000, 10**6])}
        values |= {"offline": numbers.choice([None] * 9 + ["no leader"]), "error": numbers.choice(["", "no"])}
        sample = build_sample(report.name, minute, **values, context=context)
        optional = [column for column in sample if column not in ("sampled_at", "context", *report.keys)]
        for column in optional:
            if numbers.random() < 0.03:
                sample[column] = None
        yield {column.name: sample[column.name] for column in SCHEMAS[report.name].columns}


@pytest.mark.parametrize("report", REPORTS, ids=[report.name for report in REPORTS])
def test_python_and_sql_agree(spark: Any, report: RollupReport) -> None:
    """The context of a row that differs is the seed of its recording."""
    samples = [
        sample
        for seed in range(RECORDINGS)
        for sample in record(random.Random(seed), report, f"recording {seed:03}")
    ]
    table = SCHEMAS[report.name].to_arrow(samples)
    spark.createDataFrame(table).createOrReplaceTempView(report.name)
    for suffix, unit in PERIODS.items():
        for since in (None, datetime(2026, 11, 22, tzinfo=UTC)):
            found = spark.sql(build_statement(report, unit, since and since.date())).toArrow().to_pylist()
            for row in found:
                del row["date"]
            expected = roll_up_samples(report, samples, daily=suffix == "daily", since=since)
            assert len(found) == len(expected) > RECORDINGS / 4
            for mine, spark_row in zip(expected, found, strict=True):
                assert list(mine) == list(spark_row)
                assert mine.pop("period") == spark_row.pop("period")
                assert mine == pytest.approx(spark_row), (suffix, since)
