"""The option decode of `format("jetstream")`: batches, streaming queries, SQL, pruned columns."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from jsctl.spark import connect
from tests.spark.datasource.test_source import frame
from tests.spark.datasource.test_streaming import Query
from tests.support import js
from tests.support.schemas import AVRO, avro_payload, descriptors, protobuf_payload

pytestmark = pytest.mark.spark

DDL = "id BIGINT, subject STRING, to STRUCT<city: STRING, CITY: INT>, at TIMESTAMP, more VARIANT"
ORDERS = (
    b'{"id": 1, "subject": "x", "to": {"city": "X", "CITY": 2}, "at": "2026-11-21T06:57:05Z", "more": [1]}',
    b'{"id": "no"}',
    b'{"id": 3}',
)


def fill(url: str, *payloads: bytes, stream: str = "S") -> None:
    js.stream(url, stream, f"{stream}.>", allow_direct=True)
    js.publish_all(url, [(f"{stream}.a", payload) for payload in payloads])


def rows(table: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.orderBy("sequence").toArrow().to_pylist()
    return found


def test_json(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, *ORDERS)
    options = {"decode": "json", "schema": DDL}
    table = frame(spark, url, **options)
    assert table.dtypes == [
        ("stream", "string"),
        ("subject", "string"),
        ("sequence", "bigint"),
        ("timestamp", "timestamp"),
        ("id", "bigint"),
        ("data_subject", "string"),
        ("to", "struct<city:string,data_CITY:int>"),
        ("at", "timestamp"),
        ("more", "variant"),
        ("bad_payload", "binary"),
    ]
    good, bad, sparse = rows(table.withColumn("more", table.more.cast("string")))
    assert (good["id"], good["data_subject"], good["subject"], good["more"]) == (1, "x", "S.a", "[1]")
    assert (good["to"], good["bad_payload"]) == ({"city": "X", "data_CITY": 2}, None)
    assert good["at"].isoformat() == "2026-11-21T06:57:05+00:00"
    assert (bad["id"], bad["more"], bad["bad_payload"]) == (None, None, ORDERS[1])
    assert (sparse["id"], sparse["to"], sparse["bad_payload"]) == (3, None, None)

    pruned = frame(spark, url, columns="ID, sequence,data", **options)
    assert pruned.columns == ["sequence", "id", "data"]
    assert rows(pruned)[1] == {"sequence": 2, "id": None, "data": ORDERS[1]}
    assert frame(spark, url, columns="sequence", **options).count() == 3
    assert rows(frame(spark, url, keepData="true", **options).drop("more"))[0]["data"] == ORDERS[0]
    assert table.where("id > 1 AND subject = 'S.a'").count() == 1

    (tmp_path / "schema.sql").write_text(DDL)
    sql = (
        "CREATE OR REPLACE TEMPORARY VIEW orders USING jetstream OPTIONS (servers '{}', stream 'S',"
        " decode 'json', schemaFile '{}', includeHeaders 'true')"
    )
    spark.sql(sql.format(url, tmp_path / "schema.sql"))
    assert spark.sql("SELECT sum(id), count(bad_payload), count(headers) FROM orders").first()[:] == (4, 1, 0)

    query = Query(spark, url, tmp_path, columns="sequence,id,to,bad_payload", **options)
    query.run()
    js.publish_all(url, [("S.a", b'{"id": 4}'), ("S.a", b"[]")])
    query.run()
    found = rows(spark.read.parquet(str(query.table)))
    assert [(row["sequence"], row["id"]) for row in found] == [(1, 1), (2, None), (3, 3), (4, 4), (5, None)]
    assert [row["bad_payload"] for row in found] == [None, ORDERS[1], None, None, b"[]"]


def test_everything_else(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, gzip.compress(b"\0\0\0\0\7" + avro_payload(1, city="X")), b"\0\0\0\0\7", stream="AVRO")
    (tmp_path / "order.avsc").write_text(AVRO)
    avro = {"decode": "avro", "registry": "true", "decompress": "auto"}
    good, bad = rows(frame(spark, url, "AVRO", schemaFile=f"{tmp_path}/order.avsc", **avro))
    assert (good["id"], good["state"], good["to"], good["tags"]) == (1, "NEW", {"city": "X"}, ["a", "b"])
    assert (good["counts"], good["bad_payload"], bad["bad_payload"]) == ([("x", 1)], None, b"\0\0\0\0\7")
    assert rows(frame(spark, url, "AVRO", schema=AVRO, **avro))[0] == good

    fill(url, protobuf_payload(7, city="X"), b"\xff", stream="PROTO")
    text = base64.b64encode(descriptors()).decode()
    proto = frame(spark, url, "PROTO", decode="protobuf", schema=text, message="shop.Order")
    assert [(row["id"], row["to"], row["bad_payload"]) for row in rows(proto)] == [
        (7, {"city": "X"}, None),
        (None, None, b"\xff"),
    ]

    fill(url, b'{"a": [1, "x"]}', b"7", b"\xff", stream="JSON")
    variants = frame(spark, url, "JSON", decode="variant")
    assert variants.dtypes[-2:] == [("value", "variant"), ("bad_payload", "binary")]
    first = variants.selectExpr("*", "variant_get(value, '$.a[0]', 'int') AS first")
    assert [(row["first"], row["bad_payload"]) for row in rows(first.drop("value"))] == [
        (1, None),
        (None, None),
        (None, b"\xff"),
    ]
    ours = [
        json.loads(row["value"]) for row in rows(variants.selectExpr("sequence", "to_json(value) value"))[:2]
    ]
    assert ours == [{"a": [1, "x"]}, 7]

    fill(url, gzip.compress(b"text"), b"text", b"\x1f\x8bcut", stream="PACKED")
    packed = rows(frame(spark, url, "PACKED", decompress="auto"))
    assert [(row["data"], row["bad_payload"]) for row in packed] == [
        (b"text", None),
        (b"text", None),
        (None, b"\x1f\x8bcut"),
    ]
    texts = rows(frame(spark, url, "PACKED", decode="text", decompress="gzip"))
    assert [row["data"] for row in texts] == ["text", None, None]


def test_after_connect_and_wrong_options(spark: Any, url: str) -> None:
    fill(url, *ORDERS)
    session = spark.newSession()
    connect(session, servers=url)

    def load(**options: str) -> Any:
        return session.read.format("jetstream").options(stream="S", decode="json", **options).load()

    assert load(schema="id INT").where("bad_payload IS NULL AND sequence > 1 AND id > 2").count() == 1
    with pytest.raises(Exception, match="decode json needs a schema"):
        load()
    with pytest.raises(Exception, match=r"the schema is not valid at 'FOO'"):
        load(schema="id FOO")
