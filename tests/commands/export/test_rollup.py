"""`jsctl export rollup` and `jsctl report history`: samples made by hand, and a real server's."""

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from jsctl.spark.export.report_tables import CONSUMERS, REPLICATION, SCHEMAS, SERVERS, STREAMS
from jsctl.spark.export.table_writer import append
from jsctl.spark.export.target import Target
from jsctl.spark.rollup import rollup
from jsctl.spark.rollup.definition import REPORTS
from tests.support import js
from tests.support.run import Cli

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

BEGIN = datetime(2026, 11, 20, 22, 50, tzinfo=UTC)
NASTY = "<script>alert(1)</script>"


def at(minutes: int) -> datetime:
    return BEGIN + timedelta(minutes=minutes)


def stream(minutes: int, last: int, size: int, name: str = "S", **more: Any) -> dict[str, Any]:
    return {
        "sampled_at": at(minutes),
        "context": "",
        "domain": "hub",
        "stream": name,
        "created": BEGIN,
        "messages": last,
        "bytes": size,
        "last_seq": last,
        "max_bytes": 1_000_000,
        "consumers": 1,
        "lost": 0,
        "deleted": 0,
        **more,
    }


def lag(minutes: int, behind: int, delivered: int) -> dict[str, Any]:
    return {
        "sampled_at": at(minutes),
        "context": "",
        "domain": "hub",
        "stream": "S",
        "consumer": "C",
        "unprocessed": behind,
        "delivered": delivered,
        "ack_pending": 1,
        "redelivered": 0,
    }


ROWS: dict[str, list[dict[str, Any]]] = {
    "streams": [
        stream(0, 100, 1000),
        stream(5, 400, 4000),  # 300 in 300 s
        stream(15, 1000, 10_000),  # 23:05; 600 in 600 s
        stream(30, 1000, 0, messages=0),  # purged: the sequence stays
        stream(40, 50, 500, created=at(35)),  # made again: 50 since then
        stream(75, 80, 800, created=at(35)),  # 00:05 of the next day; 30
        stream(75, 5, 50, NASTY),
    ],
    "consumers": [lag(minute, minute * 10, minute * 2) for minute in range(10)],
    "replication": [
        {
            "sampled_at": at(minute),
            "context": "",
            "domain": "hub",
            "stream": "M",
            "kind": "mirror",
            "api_prefix": "",
            "origin": "S",
            "filters": "",
            "active": None if minute else 5,
            "lag": minute,
            "error": "no" if minute == 3 else "",
        }
        for minute in range(5)
    ],
    "servers": [
        {
            "sampled_at": at(minute),
            "context": "",
            "domain": "hub",
            "server": "n1",
            "cluster": "",
            "api": api,
            "errors": 0,
            "streams": 1,
            "consumers": 1,
            "messages": 1,
            "bytes": 1,
            "memory": 0,
            "file": 1,
            "pending": 0,
        }
        for minute, api in ((0, 100), (5, 160), (9, 10))  # it was started again
    ],
}


@pytest.fixture(scope="module")
def rolled(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples, with a rollup of all of them. Tests read it."""
    folder = tmp_path_factory.mktemp("rolled")
    path = folder / "reports"
    append(spark, Target.open(path, "reports", "parquet", list(SCHEMAS)), SCHEMAS, ROWS)
    done = Cli(folder / "config")(f"export rollup --from {path} --json", status=0).json
    assert set(done["rows"]) == set(rollup.TABLES)
    return path


def rows(path: Path, name: str, **wanted: Any) -> list[dict[str, Any]]:
    result = pq.read_table(path / "rollup" / name).to_pylist()
    return [row for row in result if all(row[key] == value for key, value in wanted.items())]


def files(path: Path) -> dict[str, str]:
    return {str(f.relative_to(path)): f.name for f in path.rglob("*.parquet")}


def test_rates_resets_percentiles_and_limits(rolled: Path) -> None:
    reports = rolled
    hours = sorted(rows(reports, "streams_hourly", stream="S"), key=lambda row: row["period"])
    assert [f"{row['period']:%d %H}" for row in hours] == ["20 22", "20 23", "21 00"]
    assert [row["stored"] for row in hours] == [300, 650, 30]
    assert [row["resets"] for row in hours] == [0, 1, 0]
    assert hours[0]["message_rate"] == 1.0
    assert hours[1]["peak_rate"] == 1.0
    assert [row["growth"] for row in hours] == [3000, -3500, 300]
    # 3,000 bytes in 5 minutes are 864,000 a day; 996,000 are left.
    assert hours[0]["days_to_limit"] == pytest.approx(996_000 / 864_000)
    assert hours[1]["days_to_limit"] is None
    days = {row["date"]: row for row in rows(reports, "streams_daily", stream="S")}
    assert [row["stored"] for row in days.values()] == [950, 30]

    (one,) = rows(reports, "consumers_daily")
    assert (one["lag_p50"], one["lag_max"], one["unprocessed"], one["delivered"]) == (45.0, 90, 90, 18)
    assert one["lag_p95"] == pytest.approx(85.5)
    (link,) = rows(reports, "replication_hourly")
    assert (link["errors"], link["never_active"], link["lag_max"], link["active_max"]) == (1, 4, 4, 5)
    (server,) = rows(reports, "servers_daily")
    assert (server["api"], server["restarts"]) == (70, 1)
    movers = rows(reports, "movers_daily", measure="stored")
    assert [
        (row["rank"], row["stream"], row["value"]) for row in movers if f"{row['period']:%d}" == "20"
    ] == [(1, "S", 950)]


@pytest.mark.long
def test_gaps_purges_and_streams_made_again(spark: Any, offline_cli: Cli, tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    samples = [
        stream(0, 100, 1000),
        stream(3 * 1440, 700, 9000),  # nothing was sampled for three days
        stream(3 * 1440 + 5, 40, 100, messages=2, created=at(3 * 1440)),  # made again, then purged
        stream(3 * 1440 + 9, 30, 100, created=at(3 * 1440)),  # set back by a restore
    ]
    append(spark, Target.open(reports, "reports", "parquet", list(SCHEMAS)), SCHEMAS, {"streams": samples})
    for since in ("", " --since 2026-11-22"):
        offline_cli(f"export rollup --from {reports}{since}", status=0)
        last = max(rows(reports, "streams_daily", stream="S"), key=lambda row: row["date"])
        assert (last["stored"], last["growth"], last["resets"]) == (600 + 40, -900, 2)
        assert last["message_rate"] == pytest.approx(640 / (3 * 86400 + 540))


@pytest.mark.long
def test_again_replaces_what_it_computes_and_nothing_else(
    rolled: Path, offline_cli: Cli, tmp_path: Path
) -> None:
    reports = shutil.copytree(rolled, tmp_path / "reports")
    first = files(reports / "rollup")
    before = rows(reports, "streams_hourly")
    offline_cli(f"export rollup --from {reports} --since 2026-11-21", status=0)
    second = files(reports / "rollup")
    saved = {name for name in first if "date=2026-11-20" in name}
    assert saved == {name for name in second if "date=2026-11-20" in name}
    assert not [name for name in first if "date=2026-11-21" in name and name in second]

    def known(rows: list[dict[str, Any]]) -> list[Any]:
        return sorted((row["period"], row["stream"], row["stored"], row["growth"]) for row in rows)

    assert known(rows(reports, "streams_hourly")) == known(before)
    assert not list((reports / "rollup").glob(".staging*"))


def test_a_run_that_was_killed_while_it_moved_is_completed(tmp_path: Path) -> None:
    into = Target(tmp_path / "r", "rollup", "parquet", ["t"])
    for text in ("old", "new"):
        with into.stage(replace=True) as folder:
            (folder / "t" / "date=1").mkdir(parents=True)
            (folder / "t" / "date=1" / f"{text}.parquet").write_text(text)
    # Killed after the old one was put aside, and before the new one was in its place.
    left = tmp_path / "r" / ".staging" / "one"
    (left / "t" / "date=1").mkdir(parents=True)
    (left / "_old" / "t").mkdir(parents=True)
    (tmp_path / "r" / "t" / "date=1").rename(left / "t" / "date=1")
    (left / "complete").touch()
    (left / "replaces").touch()
    left.with_suffix(".lock").touch()
    into.recover()
    assert [f.name for f in (tmp_path / "r" / "t").rglob("*.parquet")] == ["new.parquet"]


def test_history_as_tables_plots_and_a_page(rolled: Path, offline_cli: Cli, tmp_path: Path) -> None:
    line = f"report history --from {rolled}"
    shown = offline_cli(line, status=0).out
    assert "Bytes in all streams, 11-20 22:00 to 11-21 00:00: 850 B, at most 3.9 KiB" in shown
    assert re.search(r"^S +80 +800 B +980 ", shown, re.MULTILINE)
    assert "█" in shown
    assert "Top movers of 2026-11-21" in shown
    boxed = offline_cli(f"{line} --daily --stream S", tty=True, status=0).out
    assert "│ S " in boxed
    assert NASTY not in boxed
    late = offline_cli(f"{line} --since 2026-11-21 --json", status=0).json
    assert {row["stream"] for row in late["streams"]} == {"S", NASTY}
    assert late["consumers"] == []
    assert "nothing was sampled" in offline_cli(f"{line} --until 2020-01-01", status=0).out

    file = tmp_path / "page.html"
    offline_cli(f"{line} --html {file}", status=0)
    page = file.read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert not re.search(r"https?:|url\(|src=|href=|@import", page)
    assert page.count("<svg") > 5
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("report history --from {0}/none", 3, "there is no rollup in"),
        ("report history --from {0} --since soon", 64, "is not a time"),
        ("export rollup --from {0}/none", 3, "there is no folder"),
        ("export rollup --from {0}", 64, "is not an export of reports"),
    ],
)
def test_wrong_use(offline_cli: Cli, tmp_path: Path, line: str, status: int, words: str) -> None:
    wrong = offline_cli(line.format(tmp_path), status=status)
    assert words in wrong.err
    assert wrong.err.count("\n") == 1


def test_all_the_way_from_a_server(spark: Any, cli: Cli, system_url: str, tmp_path: Path) -> None:
    url = cli.environ["NATS_URL"]
    js.stream(url, "ORDERS", "ORDERS.>", max_bytes=1 << 20)
    js.ask(
        url,
        "CONSUMER.DURABLE.CREATE.ORDERS.C",
        {
            "stream_name": "ORDERS",
            "config": {"durable_name": "C", "ack_policy": "explicit"},
        },
    )
    js.publish(url, "ORDERS.new", b"x", 5)
    to = tmp_path / "reports"
    done = cli(f"export reports --to {to} --json", status=0).json
    assert done["rows"] == {"streams": 1, "replication": 0, "consumers": 1, "servers": 0, "accounts": 1}
    system = Cli(tmp_path / "system", system_url)
    assert system(f"export reports --to {to} --json", status=0).json["rows"]["servers"] == 1
    (consumer,) = pq.read_table(to / "consumers").to_pylist()
    assert (consumer["consumer"], consumer["unprocessed"]) == ("C", 5)
    assert pq.read_table(to / "streams").to_pylist()[0]["max_bytes"] == 1 << 20
    cli(f"export rollup --from {to}", status=0)
    shown = cli(f"report history --from {to} --daily", status=0).out
    assert re.search(r"^ORDERS +C +5 +5 ", shown, re.MULTILINE)
    assert re.search(r"^test-server ", shown, re.MULTILINE)
    assert cli("report", status=0).out  # beside its subcommand


def test_tables_have_what_the_statements_name() -> None:
    names = {schema.name for schema in (STREAMS, REPLICATION, CONSUMERS, SERVERS)}
    assert {report.name for report in REPORTS} == names
