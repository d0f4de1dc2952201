"""`export reports`, with a real server and a real Spark."""

import itertools
import json
import os
import re
import subprocess
import sys
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer

pytestmark = pytest.mark.spark


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_parquet_is_typed_and_opens_anywhere(streams: Cli, spark: Any, tmp_path: Path) -> None:
    to = tmp_path / "reports"
    before = datetime.now(UTC)
    done = streams(f"export reports --to {to}", status=0)
    assert re.fullmatch(
        rf"wrote 2 rows to {to}/streams and 1 row to {to}/replication and 1 row to {to}/accounts"
        r" in \d+\.\ds\n",
        done.out,
    )
    assert done.err == ""
    day = before.date().isoformat()
    assert {path.name for path in (to / "streams").iterdir()} == {f"date={day}"}
    assert not [path for path in files(to) if ".crc" in path or "_SUCCESS" in path or "staging" in path]

    table = pq.read_table(to / "streams")
    types = {field.name: field.type for field in table.schema}
    assert types["sampled_at"] == types["created"] == types["first_ts"] == pa.timestamp("us", tz="UTC")
    assert {types[name] for name in ("messages", "bytes", "first_seq", "replicas")} == {pa.int64()}
    orders = next(row for row in table.to_pylist() if row["stream"] == "ORDERS")
    assert (orders["messages"], orders["storage"], orders["last_seq"]) == (2, "file", 2)
    assert orders["bytes"] > 0
    assert before - timedelta(seconds=1) <= orders["sampled_at"] <= datetime.now(UTC)
    assert before - timedelta(minutes=1) <= orders["created"] <= orders["first_ts"] <= datetime.now(UTC)

    frame = spark.read.parquet(str(to / "streams"))
    kinds = dict(frame.dtypes)
    assert (kinds["sampled_at"], kinds["bytes"], kinds["date"]) == ("timestamp", "bigint", "date")
    assert frame.count() == 2
    links = spark.read.parquet(str(to / "replication"))
    assert dict(links.dtypes)["active"] == dict(links.dtypes)["lag"] == "bigint"
    link = links.collect()[0]
    assert (link.stream, link.kind, link.origin, link.error) == ("COPY", "mirror", "ORDERS", "")
    assert link.date == date.fromisoformat(day)


def test_a_recording_becomes_the_same_tables(streams: Cli, spark: Any, tmp_path: Path) -> None:
    file, to = tmp_path / "rounds", tmp_path / "reports"
    streams(f"report --record {file} --count 3 --watch 1s", status=0)
    done = streams(f"export reports --to {to} --replay {file}", status=0)
    assert "wrote 6 rows to" in done.out
    rows = pq.read_table(to / "streams").to_pylist()
    assert sorted(row["stream"] for row in rows) == ["COPY"] * 3 + ["ORDERS"] * 3
    assert {row["messages"] for row in rows if row["stream"] == "ORDERS"} == {2}
    assert len({row["sampled_at"] for row in rows}) == 3
    assert (
        "--replay cannot be used with"
        in streams(f"export reports --to {to} --replay {file} --every 1s", status=64).err
    )


RIGHTS = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts { A: { jetstream: enabled, users: [
  {user: all, password: all}
  {user: some, password: some, permissions: { publish: { deny: "$JS.API.CONSUMER.LIST.>" } }}
] } }
"""


def test_a_missing_right_costs_no_more_than_its_own(offline_cli: Cli, spark: Any, tmp_path: Path) -> None:
    server = RealServer(tmp_path / "server", RIGHTS).start()
    try:
        js.stream(server.url_for("all"), "S", "s.>")
        config = {"durable_name": "C", "ack_policy": "explicit"}
        body = {"stream_name": "S", "config": config}
        js.ask(server.url_for("all"), "CONSUMER.CREATE.S.C", body)
        url = server.url_for("some")
        line = f"export reports --to {tmp_path}/out -s {url} --every 200ms --for 400ms"
        done = offline_cli(line, status=0)
    finally:
        server.stop()
    assert done.err.count("the consumers of stream S cannot be listed: not allowed to publish") == 1
    assert pq.read_table(tmp_path / "out" / "streams").num_rows == 3
    assert not (tmp_path / "out" / "consumers").exists() or not files(tmp_path / "out" / "consumers")


def test_later_runs_append(streams: Cli, spark: Any, tmp_path: Path) -> None:
    to = tmp_path / "reports"
    first = streams(f"export reports --to {to} --json", status=0).json
    assert first["rows"] == {"streams": 2, "replication": 1, "consumers": 0, "servers": 0, "accounts": 1}
    assert first["to"] == str(to)
    assert first["seconds"] > 0
    saved = set(files(to))
    streams(f"export reports --to {to}", status=0)
    assert saved < set(files(to))
    assert spark.read.parquet(str(to / "streams")).groupBy("stream").count().collect()[0]["count"] == 2


@pytest.mark.parametrize("format", ["json", "csv"])
def test_text_formats(streams: Cli, spark: Any, tmp_path: Path, format: str) -> None:
    to = tmp_path / "reports"
    streams(f"export reports --to {to} --format {format}", status=0)
    text = next((to / "streams").rglob(f"*.{format}")).read_text()
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", text)
    if format == "json":
        rows = [json.loads(line) for line in text.splitlines()]
        assert {row["stream"]: row["messages"] for row in rows} == {"ORDERS": 2, "COPY": 2}
    sql = "SELECT stream, messages, created FROM streams ORDER BY stream DESC"
    result = streams(["export", "query", "--from", str(to), sql, "--json"], status=0).json
    assert [(row["stream"], row["messages"]) for row in result] == [("ORDERS", 2), ("COPY", 2)]
    assert datetime.fromisoformat(result[0]["created"]).tzinfo is not None


def test_samples_over_time(streams: Cli, spark: Any, tmp_path: Path) -> None:
    to = tmp_path / "reports"
    begin = time.monotonic()
    done = streams(f"export reports --to {to} --every 300ms --for 900ms", status=0)
    assert time.monotonic() - begin >= 0.9
    assert done.err == ""
    rows = spark.read.parquet(str(to / "streams")).where("stream = 'ORDERS'").orderBy("sampled_at").collect()
    assert len(rows) == 4
    steps = [b.sampled_at - a.sampled_at for a, b in itertools.pairwise(rows)]
    assert all(timedelta(milliseconds=200) < step < timedelta(milliseconds=600) for step in steps)


def test_several_domains(hub_cli: Cli, spark: Any, tmp_path: Path) -> None:
    for domain in ("hub", "leaf"):
        body = {"name": f"IN_{domain}", "subjects": [f"{domain}.>"], "storage": "memory"}
        call = _domain_call(hub_cli, domain)
        call(f"STREAM.CREATE.IN_{domain}", body)
    to = tmp_path / "reports"
    hub_cli(f"export reports --to {to} --js-domain hub --js-domain leaf", status=0)
    rows = spark.read.parquet(str(to / "streams")).collect()
    assert {(row.domain, row.stream) for row in rows} == {("hub", "IN_hub"), ("leaf", "IN_leaf")}

    done = hub_cli(f"export reports --to {to} --js-domain hub --js-domain nowhere --json")
    assert done.status == 4
    assert done.json["rows"]["streams"] == 1
    assert re.search(r"not in the samples: nats:\S+ nowhere: ", done.err)


def _domain_call(cli: Cli, domain: str) -> Any:
    import asyncio

    from jsctl.contexts.settings import Settings
    from jsctl.jetstream.api import Api
    from jsctl.nats.connection import Connection

    async def ask(subject: str, body: dict[str, Any]) -> Any:
        connection = await Connection.open(Settings(url=cli.environ["NATS_URL"]))
        try:
            return await Api(connection, domain=domain).call(subject, body)
        finally:
            await connection.close()

    return lambda subject, body: asyncio.run(ask(subject, body))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--master spark://x --remote sc://y", "cannot be used together"),
        ("--for 5s", "--for needs --every"),
        ("--every -1s", "--for needs --every"),
        ("--format avro", "'avro' is not one of"),
    ],
)
def test_wrong_flags(cli: Cli, tmp_path: Path, flags: str, words: str) -> None:
    wrong = cli(f"export reports --to {tmp_path}/x {flags}", status=64)
    assert words in wrong.err
    assert wrong.err.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_a_folder_that_is_not_ours_is_left_alone(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").touch()
    refused = cli(f"export reports --to {tmp_path}/photos", status=64)
    assert refused.err == (
        f"jsctl: error: {tmp_path}/photos exists and is not an export of jsctl;"
        " name a folder that does not exist\n"
    )
    assert files(tmp_path / "photos") == ["a.jpg"]


def test_without_a_server_nothing_is_made(offline_cli: Cli, tmp_path: Path) -> None:
    failed = offline_cli(f"export reports --to {tmp_path}/x -s nats://127.0.0.1:9", status=4)
    assert "connection refused" in failed.err
    assert not (tmp_path / "x").exists()


def test_a_cluster_that_does_not_answer(cli: Cli, tmp_path: Path) -> None:
    failed = cli(f"export reports --to {tmp_path}/x --master spark://127.0.0.1:9", status=4)
    assert failed.err.startswith("jsctl: error: no Spark master answers at spark://127.0.0.1:9; ")
    assert not (tmp_path / "x").exists()


def test_a_master_that_spark_does_not_know(cli: Cli, tmp_path: Path) -> None:
    """In a process of its own: a Spark that runs already would be used instead."""
    done = subprocess.run(
        [sys.executable, "-m", "jsctl", "export", "reports", "--to", "x", "--master", "nonsense"],
        cwd=tmp_path,
        env={**os.environ, **cli.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("jsctl: error: Spark does not start: Master must ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir() if path.name != "config"] == []
