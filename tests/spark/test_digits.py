"""Random JSON through all ways out of a stream: the digits that went in come out, or it is said that they do
not."""

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from jsctl.spark import decode
from tests.spark.datasource.test_source import frame
from tests.support import js, random_json
from tests.support.random_json import parse, simplify
from tests.support.run import Cli
from tests.support.variants import decode_variant
from tests.unit.spark.test_variants import is_outside

pytestmark = pytest.mark.spark

COUNT = 300
SCHEMA = "v VARIANT, a ARRAY<VARIANT>, m MAP<STRING, VARIANT>, s STRING, n DECIMAL(38,8)"
ALWAYS_BAD = (b'{"v": 1} x', b'{"v": 1}{"v": 2}', b'{"v": 1}]', b"]", b"1],2", b"\xff", b"", b"{'v': 1}")


def fill(url: str, seed: int) -> list[str]:
    """ORDERS with random objects, and then payloads that are not JSON. Returns the objects."""
    random = Random(seed)
    texts = []
    for _ in range(COUNT):
        v, a, m, s = (random_json.document(random) for _ in range(4))
        price = f"{random.randrange(10**9)}.{random.randrange(10**8):08}"
        texts.append(f'{{"v": {v}, "a": [{a}, null], "m": {{"k": {m}}}, "s": {s}, "n": {price}}}')
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    payloads = [*(text.encode() for text in texts), *ALWAYS_BAD]
    js.publish_all(url, [("ORDERS.a", payload) for payload in payloads])
    js.wait_until_stored(url, "ORDERS", len(payloads))
    return texts


def read_variant(value: Any) -> Any:
    return simplify(decode_variant({"value": bytes(value.value), "metadata": bytes(value.metadata)}))


def fits(document: Any) -> bool:
    """Whether a variant holds the fields that the schema has as variants."""
    return not any(is_outside(document[name]) for name in ("v", "a", "m"))


def text_of(value: Any) -> Any:
    """What a field of text says."""
    return value if isinstance(value, str | None) else parse(json.dumps(value, default=str))


def test_variants(spark: Any, url: str) -> None:
    """By Spark's own parser where that keeps digits, in the data source, and with keys twice."""
    texts = fill(url, 1)
    source = frame(spark, url, "ORDERS", decode="variant", keepData="true")
    messages = frame(spark, url, "ORDERS")
    for table in (source, decode(messages, "variant", keep_data=True)):
        rows = table.orderBy("sequence").collect()
        assert len(rows) == COUNT + len(ALWAYS_BAD)
        for row, text in zip(rows, texts, strict=False):
            document = parse(text)
            if is_outside(document):
                assert (row["value"], bytes(row["bad_payload"])) == (None, text.encode())
            else:
                assert (read_variant(row["value"]), row["bad_payload"]) == (document, None), text
        for row, payload in zip(rows[COUNT:], ALWAYS_BAD, strict=True):
            assert (row["value"], bytes(row["bad_payload"])) == (None, payload)


def ask(cli: Cli, folder: Path, sql: str, *flags: str) -> str:
    return cli(["export", "query", "--from", str(folder), "--limit", "10000", *flags, sql], status=0).out


@pytest.mark.parametrize("format", ["parquet", "json", "csv"])
def test_exports_with_a_schema(cli: Cli, url: str, spark: Any, tmp_path: Path, format: str) -> None:
    texts = fill(url, 2)
    line = ["export", "stream", "ORDERS", "--to", str(tmp_path / "out"), "--format", format, "--verify"]
    done = cli([*line, "--decode", "json", "--schema", SCHEMA, "--json"], status=0).json
    documents = [parse(text) for text in texts]
    assert done["bad"] == len(ALWAYS_BAD) + sum(not fits(document) for document in documents)
    assert done["streams"][0]["verified"]["same"] is True
    sql = "SELECT v, a, m, s, n FROM ORDERS WHERE sequence <= 300 ORDER BY sequence"
    answer = parse(ask(cli, tmp_path / "out", sql, "--json"))
    cells = list(csv.DictReader(io.StringIO(ask(cli, tmp_path / "out", sql, "--as", "csv"))))
    for document, row, line_of_csv in zip(documents, answer, cells, strict=True):
        if not fits(document):
            assert set(row.values()) == {None}
            continue
        assert Decimal(row["n"]) == document["n"]
        in_csv = format == "csv"  # all nested values are texts there, and an empty text is null
        for name in ("v", "a", "m"):
            assert (parse(row[name]) if in_csv else row[name]) == document[name]
            nested = line_of_csv[name]
            if isinstance(document[name], dict | list):
                assert parse(nested) == document[name]
        if isinstance(document["s"], dict | list | Decimal):
            assert parse(row["s"]) == document["s"]


def test_exports_without_a_schema(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    """Numbers that a DOUBLE would round become DECIMAL, if they fit, or it is said which fields round."""
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    documents = [
        '{"half": 0.5, "price": 0.12345678901234567891, "far": 1.5, "list": [{"p": 1.1}], "big": 1}',
        '{"half": 1e3, "price": 12, "far": 1e400, "list": [{"p": 12345678901234567.25}], "big": 2.5}',
        '{"half": 2, "price": 1e-5, "far": 2, "list": [], "big": 9007199254740993}',
    ]
    js.publish_all(url, [("ORDERS.a", text.encode()) for text in documents])
    line = ["export", "stream", "ORDERS", "--to", str(tmp_path), "--decode", "json", "--incremental"]
    done = cli([*line, "--verify", "--json"], status=0)
    assert done.err.splitlines() == [
        "jsctl: ORDERS rounds numbers of far (DOUBLE): a table with --schema and DECIMAL or STRING keeps"
        " their digits"
    ]
    assert done.json["bad"] == 0 and done.json["streams"][0]["verified"]["same"]
    sql = "SELECT half, price, list, big FROM ORDERS ORDER BY sequence"
    for row, text in zip(parse(ask(cli, tmp_path, sql, "--json")), documents, strict=True):
        assert row == {name: parse(text)[name] for name in row}
    types = {
        row["col_name"]: row["data_type"]
        for row in json.loads(ask(cli, tmp_path, "DESCRIBE ORDERS", "--json"))
    }
    assert [types[name] for name in ("half", "price", "big")] == ["double", "decimal(38,20)", "decimal(38,1)"]
    js.publish(url, "ORDERS.a", b'{"half": 0.12345678901234567, "big": 1.25, "new": 1.0000000000000000001}')
    later = cli(line, status=0).err
    assert "ORDERS rounds numbers of big (DECIMAL(38,1)), half (DOUBLE): a table" in later
    assert json.loads(ask(cli, tmp_path, "SELECT max(new) AS n FROM ORDERS", "--json"), parse_float=str) == [
        {"n": "1.0000000000000000001"}
    ]


def test_repeated_keys_say_the_same_everywhere(spark: Any, url: str) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    text = b'{"v": {"a": 1, "a": {"b": 2, "b": 3}}}'
    js.publish_all(url, [("S.a", text), ("S.a", b'{"v": 0}')])
    expected = {"v": {"a": {"b": Decimal(3)}}}
    messages = frame(spark, url, stream="S")
    for table in (decode(messages, "variant"), frame(spark, url, stream="S", decode="variant")):
        assert read_variant(table.orderBy("sequence").collect()[0]["value"]) == expected
    for schema in ("v VARIANT", "v MAP<STRING, VARIANT>"):
        for table in (
            decode(messages, "json", schema=schema),
            frame(spark, url, stream="S", decode="json", schema=schema),
        ):
            row = table.selectExpr("to_json(v) AS v").orderBy("v").collect()[-1]
            assert parse(row["v"]) == expected["v"]
