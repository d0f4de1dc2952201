"""Names of folders that a URI would encode, payloads whose keys differ in case, SQL that is no SELECT, and
`connect` where an event loop is running."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jsctl.spark import connect
from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.spark

FOLDER = "Aufträge + 100%20 & #1 [a] {b} *?"


def fill(url: str, *payloads: bytes) -> None:
    """Publish payloads to the stream ORDERS, and create it where there is none."""
    if "ORDERS" not in (js.ask(url, "STREAM.NAMES")["streams"] or []):
        js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    count = js.info(url, "ORDERS")["state"]["messages"] + len(payloads)
    js.publish_all(url, (("ORDERS.new", payload) for payload in payloads))
    wait_for(lambda: js.info(url, "ORDERS")["state"]["messages"] == count, "not all messages are stored")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_folders_of_any_name(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, b"1", b"2")
    folder = tmp_path / FOLDER
    export = ["export", "stream", "ORDERS", "--to", str(folder), "--incremental", "--verify", "--json"]
    assert cli(export, status=0).json["exported"] == 2
    fill(url, b"3")
    verified = cli(export, status=0).json["streams"][0]["verified"]
    assert verified["same"] is True
    sql = "SELECT count(*) AS n FROM ORDERS"
    assert cli(["export", "query", "--from", str(folder), sql, "--json"], status=0).json == [{"n": 3}]
    js.stream(url, "COPY", "COPY.>")
    done = cli(["import", str(folder), "--stream", "COPY", "--map", "ORDERS=COPY"], status=0)
    assert js.info(url, "COPY")["state"]["messages"] == 3, done.err
    file = tmp_path / "Zeilen #2 %41.parquet"
    pq.write_table(pa.table({"data": [b"4"]}), file)
    cli(["import", str(file), "--stream", "COPY", "--subject", "COPY.row"], status=0)
    assert js.info(url, "COPY")["state"]["messages"] == 4
    reports = tmp_path / f"reports {FOLDER}"
    cli(["export", "reports", "--to", str(reports)], status=0)
    cli(["export", "rollup", "--from", str(reports)], status=0)
    sql = "SELECT count(*) > 0 AS has_rows FROM streams_daily"
    query = ["export", "query", "--from", str(reports / "rollup"), sql, "--json"]
    assert cli(query, status=0).json == [{"has_rows": True}]
    assert names(tmp_path) == sorted([FOLDER, file.name, reports.name])
    assert len(pq.read_table(folder / "ORDERS")) == 3


CASES = (
    b'{"id": 1, "to": {"city": "X"}, "items": [{"n": 1}]}',
    b'{"id": 2, "ID": "two", "to": {"city": "Y", "City": "Z"}, "items": [{"n": 1, "N": 2}]}',
    b'{"id": 3, "id": "again"}',
    b'{"once": 1, "once": 2}',
)


def test_keys_that_differ_in_case_only(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, *CASES)
    to = tmp_path / "out"
    line = ["export", "stream", "ORDERS", "--to", str(to), "--decode", "json", "--incremental", "--json"]
    assert cli(line, status=0).json["bad"] == 0
    fill(url, b'{"Id": 5, "id": "5", "ID": "V"}')
    assert cli(line, status=0).json["exported"] == 1
    rows = sorted(
        spark.read.parquet(str(to / "ORDERS")).toArrow().to_pylist(), key=lambda row: row["sequence"]
    )
    assert [row["ID"] for row in rows] == [None, "two", None, None, "V"]
    assert [row["data_id"] for row in rows] == ["1", "2", "again", None, "5"]
    assert rows[1]["to"] == {"City": "Z", "data_city": "Y"}
    assert rows[1]["items"] == [{"N": 2, "data_n": 1}]
    assert rows[3]["once"] == 2
    sql = "SELECT count(ID) AS n FROM ORDERS"
    assert cli(["export", "query", "--from", str(to), sql, "--json"], status=0).json == [{"n": 2}]


def test_only_selects_run(cli: Cli, url: str, spark: Any, tmp_path: Path, monkeypatch: Any) -> None:
    fill(url, b"1")
    to, here, other = tmp_path / "out", tmp_path / "here", tmp_path / "other"
    here.mkdir()
    monkeypatch.chdir(here)
    cli(f"export stream ORDERS --to {to}", status=0)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    for sql in (
        f"INSERT OVERWRITE DIRECTORY '{other}' USING parquet SELECT * FROM ORDERS",
        "INSERT INTO ORDERS SELECT * FROM ORDERS",
        f"WITH o AS (SELECT 1 AS n) INSERT OVERWRITE DIRECTORY '{other}' USING csv SELECT * FROM o",
        f"FROM ORDERS INSERT OVERWRITE DIRECTORY '{other}' USING csv SELECT sequence",
        "CREATE TABLE copies USING parquet AS SELECT * FROM ORDERS",
        "/* SELECT */ DROP VIEW ORDERS;",
    ):
        refused = cli(["export", "query", "--from", str(to), sql], status=64)
        assert refused.err == (
            "jsctl: error: the query is not a SELECT; use one SELECT, SHOW TABLES or DESCRIBE,"
            " which only read\n"
        ), refused.err
    with_query = [
        "export",
        "stream",
        "ORDERS",
        "--to",
        str(to),
        "--incremental",
        "--query",
        "DROP VIEW ORDERS",
    ]
    assert "--query is not a SELECT" in cli(with_query, status=64).err
    for sql in (
        "SELECT count(*) AS n FROM ORDERS; ",
        "WITH o AS (SELECT * FROM ORDERS) SELECT count(*) AS n FROM o -- all",
        "FROM ORDERS |> AGGREGATE count(*) AS n",
    ):
        assert cli(["export", "query", "--from", str(to), sql, "--json"], status=0).json == [{"n": 1}]
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def test_connect_where_an_event_loop_is_running(url: str, spark: Any) -> None:
    fill(url, b"1", b"2")
    session = spark.newSession()  # the connection stays in a session, which other tests use too

    async def cell() -> int:
        connect(session, servers=url)
        return int(session.read.format("jetstream").option("stream", "ORDERS").load().count())

    assert asyncio.run(cell()) == 2


CELL = """
from jsctl.spark import connect
spark = connect(servers={url!r})
assert connect(servers={url!r}) is spark
print("rows:", spark.read.format("jetstream").option("stream", "ORDERS").load().count())
"""


@pytest.mark.long
def test_connect_in_a_notebook(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a real kernel of Jupyter, whose cells run in an event loop."""
    from jupyter_client.manager import KernelManager

    fill(url, b"1", b"2")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    line = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel: Any = KernelManager(connection_file=str(tmp_path / "kernel.json"))
    kernel.kernel_spec.argv = line
    kernel.start_kernel(cwd=str(tmp_path))
    try:
        client = kernel.blocking_client()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        output: list[Any] = []
        reply = client.execute_interactive(
            CELL.format(url=url), timeout=110, output_hook=lambda message: output.append(message["content"])
        )
        assert reply["content"]["status"] == "ok", output
        assert "rows: 2" in "".join(content.get("text", "") for content in output)
        client.stop_channels()
    finally:
        kernel.shutdown_kernel(now=True)
