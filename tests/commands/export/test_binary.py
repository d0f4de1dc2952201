"""Binary in CSV and JSON: unbroken base64, in columns and keys that say so; with readers of other people."""

import base64
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.cases import sample
from tests.support.run import Cli

pytestmark = pytest.mark.spark

PAYLOADS = [bytes(range(256)) * 3, b"text, of more than\none line", b"", b"AP8K", b"\x00\xff\n", b"x" * 100]


def with_pandas(_: Any, folder: Path, format: str) -> list[dict[str, Any]]:
    import pandas  # takes as long as ten files of tests

    frames = [
        pandas.read_csv(file) if format == "csv" else pandas.read_json(file, lines=True)
        for file in folder.glob("part-*")
    ]
    rows = pandas.concat(frames).to_dict("records")
    return [{key: "" if value != value else value for key, value in row.items()} for row in rows]


def with_duckdb(_: Any, folder: Path, format: str) -> list[dict[str, Any]]:
    import duckdb

    read = f"FROM read_{format}('{folder}/part-*')"
    ask: Callable[[str], Any] = duckdb.sql
    times = {"timestamp", "created"}.intersection(ask(read).columns)  # these would need pytz
    answer = ask(f"SELECT * EXCLUDE ({', '.join(times)}) {read}")
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()]


def with_spark(spark: Any, folder: Path, format: str) -> list[dict[str, Any]]:
    reader = spark.read
    return list(getattr(reader, format)(str(folder)).toArrow().to_pylist())


def named(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the names of the first line, where a reader takes it for a row by default."""
    if "_c0" not in rows[0]:
        return rows
    head, *others = rows
    return [dict(zip(head.values(), row.values(), strict=True)) for row in others]


@pytest.mark.parametrize("format", ["csv", "json"])
def test_other_readers(cli: Cli, url: str, spark: Any, tmp_path: Path, format: str) -> None:
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish_all(url, [("ORDERS.a", payload) for payload in PAYLOADS])
    cli(f"export stream ORDERS --to {tmp_path}/out --format {format}", status=0)
    for reader in (with_pandas, with_duckdb, with_spark):
        rows = named(reader(spark, tmp_path / "out" / "ORDERS", format))
        assert len(rows) == len(PAYLOADS), reader
        assert "data" not in rows[0], reader
        decoded = {int(row["sequence"]): base64.b64decode(row["data_base64"] or "") for row in rows}
        assert decoded == dict(enumerate(PAYLOADS, 1)), reader


@pytest.mark.parametrize("format", sample(["csv", "json"], 2))
def test_headers_bad_payloads_and_values_of_buckets(
    cli: Cli, url: str, spark: Any, tmp_path: Path, format: str
) -> None:
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish_framed(url, "ORDERS.a", b"NATS/1.0\r\nK: " + b"\xff" * 90 + b"\r\n\r\n", b"\xff" * 90)
    cli(f"export stream ORDERS --to {tmp_path}/out --format {format} --headers --decode text", status=0)
    (row,) = named(with_duckdb(spark, tmp_path / "out" / "ORDERS", format))
    expected = base64.b64encode(b"\xff" * 90).decode()
    assert row["bad_payload_base64"] == expected and not row.get("data")
    headers = json.loads(row["headers"]) if isinstance(row["headers"], str) else row["headers"]
    assert headers == [{"key": "K", "value_base64": expected}]
    js.stream(url, "KV_B", "$KV.B.>", allow_direct=True)
    js.publish(url, "$KV.B.k", b"\xff" * 90)
    cli(f"export kv B --to {tmp_path}/kv --format {format}", status=0)
    (row,) = named(with_duckdb(spark, tmp_path / "kv" / "B", format))
    assert row["value_base64"] == expected


def test_a_file_that_says_so_is_imported(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    """Also one that is no export, with text beside it."""
    js.stream(url, "S", "S.>")
    file = tmp_path / "rows.json"
    pair = {"key": "K", "value_base64": "/w=="}
    rows: list[dict[str, Any]] = [
        {"subject": "S.a", "data": "AP8K", "headers": [pair]},
        {"subject": "S.b", "data_base64": "AP8K"},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    cli(f"import {file} --stream S", status=0)
    first, second = (js.ask(url, "STREAM.MSG.GET.S", {"seq": n})["message"] for n in (1, 2))
    assert (base64.b64decode(first["data"]), base64.b64decode(second["data"])) == (b"AP8K", b"\x00\xff\n")
    assert b"K: \xff\r\n" in base64.b64decode(first["hdrs"])


def test_a_table_of_an_earlier_version(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    """It called base64 `data`: it is imported as before, but not continued."""
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.stream(url, "COPY", "COPY.>")
    js.publish(url, "ORDERS.a", b"\x00\xff\n")
    line = f"export stream ORDERS --to {tmp_path}/out --format csv --incremental"
    cli(line, status=0)
    for file in (tmp_path / "out").rglob("*"):
        if file.is_file() and not file.name.startswith((".", "_jsctl")):
            file.write_text(file.read_text().replace("data_base64", "data"))
    for crc in (tmp_path / "out" / "ORDERS").glob(".*.crc"):
        crc.unlink()
    cli(f"import {tmp_path}/out --stream COPY --map ORDERS=COPY", status=0)
    assert js.ask(url, "STREAM.MSG.GET.COPY", {"seq": 1})["message"]["data"] == "AP8K"
    js.publish(url, "ORDERS.a", b"\x00\xff\n")
    refused = cli(line, status=64).err
    assert "its column data does not say that it is base64; export the stream to another folder" in refused


def test_queries(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish_all(url, [("ORDERS.a", b"AP8K"), ("ORDERS.a", b"\x00\xff\n"), ("ORDERS.a", b"")])
    cli(f"export stream ORDERS --to {tmp_path}/out", status=0)
    sql = "SELECT sequence AS n, data, array(data) AS all, struct(data) AS one FROM ORDERS ORDER BY n"
    line = ["export", "query", "--from", f"{tmp_path}/out", sql]
    records = cli([*line, "--json"], status=0).json
    assert records == [
        {"n": 1, "data": "AP8K", "all_base64": ["QVA4Sw=="], "one": {"data": "AP8K"}},
        {"n": 2, "data_base64": "AP8K", "all_base64": ["AP8K"], "one": {"data_base64": "AP8K"}},
        {"n": 3, "data": "", "all_base64": [""], "one": {"data": ""}},
    ]
    text = cli([*line, "--as", "csv"], status=0).out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["data"], row["data_base64"], row["all_base64"], row["one"]) for row in rows] == [
        ("AP8K", "", '["QVA4Sw=="]', '{"data": "AP8K"}'),
        ("", "AP8K", '["AP8K"]', '{"data_base64": "AP8K"}'),
        ("", "", '[""]', '{"data": ""}'),
    ]
    assert "\ufffd" not in cli(line, status=0).out
