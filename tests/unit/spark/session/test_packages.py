"""Packages that `--packages auto` adds."""

import pytest

from jsctl.spark.session.packages import add_packages

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("settings", "table"),
    [
        (
            {"spark.a": "http://127.0.0.1", "spark.sql.catalog.lake.warehouse": "s3a://lake/tables"},
            "`lake`.`t`",
        ),
        ({}, "`delta`.`s3a://lake/t`"),
    ],
)
def test_file_systems_of_tables(
    settings: dict[str, str], table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)  # that of tests has one jar for all
    added = add_packages(settings, "auto", [], "parquet", table)["spark.jars.packages"]
    assert added.startswith("org.apache.hadoop:hadoop-aws:") and "," not in added
