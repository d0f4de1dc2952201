"""Payloads with the ids of a schema registry: exports, the data source and `stream view`.

A real Spark, a real nats-server, and a registry that this machine runs.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import pytest

from jsctl.spark import connect, decode
from tests.support import js
from tests.support.run import Cli
from tests.support.schema_registry import Registry, serve, split_descriptors, with_id
from tests.support.schemas import descriptors, protobuf_payload

pytestmark = pytest.mark.spark

OLD = """{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}"""
NEW = """{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"},
 {"name": "city", "type": ["null", "string"], "default": null}]}"""
NEWER = """{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"},
 {"name": "city", "type": ["null", "string"], "default": null},
 {"name": "tag", "type": "string", "default": "-"}]}"""
LOGIN = {"JSCTL_REGISTRY_USER": "reader", "JSCTL_REGISTRY_PASSWORD": "s3cret"}


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setattr("jsctl.schema.remote.registry._PAUSE", 0.01)
    with serve("/apis/ccompat/v7") as served:
        for id, schema in ((1, OLD), (2, NEW), (3, NEWER)):
            served.add(id, schema)
        served.add(5, "syntax ...", "PROTOBUF")
        served.serialized[5] = split_descriptors(descriptors())["shop.proto"]
        yield served


def record(schema: str, **values: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), values)
    return out.getvalue()


def fill(url: str, *payloads: bytes, stream: str = "S") -> None:
    js.stream(url, stream, f"{stream}.>", allow_direct=True)
    js.publish_all(url, [(f"{stream}.a", payload) for payload in payloads])


def rows(table: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.orderBy("sequence").toArrow().to_pylist()
    return found


UNKNOWN = with_id(99, b"\x02")
ORDERS = (
    with_id(1, record(OLD, id=1)),
    with_id(2, record(NEW, id=2, city="X")),
    UNKNOWN,
    b"plain",
    with_id(2, record(NEW, id=4, city=None)),
)
EXPECTED = [(1, None, None), (2, "X", None), (None, None, UNKNOWN), (None, None, b"plain"), (4, None, None)]


def values(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["id"], row["city"], row["bad_payload"]) for row in found]


def test_exports_take_the_newest_schema_and_keep_it(
    cli: Cli, url: str, spark: Any, registry: Registry, tmp_path: Path
) -> None:
    fill(url, *ORDERS)
    line = f"export stream S --to {tmp_path}/out --incremental --decode avro --registry {registry.url}/"
    assert cli(f"{line} --json", status=0).json["bad"] == 2
    assert values(rows(spark.read.parquet(f"{tmp_path}/out/S"))) == EXPECTED
    js.publish_all(url, [("S.a", with_id(3, record(NEWER, id=6, city="Y", tag="t")))])
    done = cli(line, status=0)
    assert "S keeps the schema of its first run; newer fields are left out" in done.err
    assert values(rows(spark.read.parquet(f"{tmp_path}/out/S")))[5:] == [(6, "Y", None)]
    assert rows(spark.read.parquet(f"{tmp_path}/out/S"))[0].keys() >= {"id", "city"}


def test_a_login_stays_secret(
    cli: Cli, url: str, spark: Any, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(url, ORDERS[0])
    registry.authorization = "Basic cmVhZGVyOnMzY3JldA=="
    line = f"export stream S --to {tmp_path}/out --decode avro --registry {registry.url}"
    refused = cli(line, status=5)
    assert refused.err.splitlines()[-1].endswith(
        "(401); set JSCTL_REGISTRY_USER and JSCTL_REGISTRY_PASSWORD, or JSCTL_REGISTRY_TOKEN"
    )
    for name, text in LOGIN.items():
        monkeypatch.setenv(name, text)
    wrong = cli(line.replace("http://", "http://u:s3cret@"), status=64)
    assert "cannot hold a login" in wrong.err
    done = cli(line, status=0)
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"s3cret" not in written
    session = spark.newSession()
    connect(session, servers=url)
    table = session.read.format("jetstream").options(stream="S", decode="avro", registry=registry.url).load()
    assert [row["id"] for row in rows(table)] == [1]
    plan = table._jdf.queryExecution().toString()
    assert not any("s3cret" in text for text in (wrong.err, done.err, done.out, plan))


@pytest.mark.parametrize(
    ("failures", "status", "words"),
    [
        ([404], 1, "there is no schema registry at"),
        ([500] * 9, 4, "answers with status 500; try again later"),
    ],
)
def test_a_registry_that_fails(
    cli: Cli, url: str, registry: Registry, tmp_path: Path, failures: list[int], status: int, words: str
) -> None:
    fill(url, ORDERS[0])
    registry.failures = failures
    failed = cli(
        f"export stream S --to {tmp_path}/out --decode avro --registry {registry.url}", status=status
    )
    assert words in failed.err.splitlines()[-1]
    assert not (tmp_path / "out" / "S").exists()


def test_a_registry_that_fails_in_tasks(cli: Cli, url: str, registry: Registry, tmp_path: Path) -> None:
    """The driver has a schema from a file: the first request is that of a task."""
    fill(url, ORDERS[0])
    (tmp_path / "order.avsc").write_text(NEW)
    registry.authorization = "Bearer x"
    flags = f"--decode avro --schema-file {tmp_path}/order.avsc --registry {registry.url}"
    failed = cli(f"export stream S --to {tmp_path}/out {flags}", status=None)
    assert failed.status != 0
    assert "refuses the login (401)" in failed.err.splitlines()[-1]
    assert "Traceback" not in failed.err
    assert not (tmp_path / "out" / "S").exists()


def test_buckets(cli: Cli, url: str, spark: Any, registry: Registry, tmp_path: Path) -> None:
    js.bucket(url, "B")
    js.publish_all(url, [("$KV.B.a", ORDERS[1]), ("$KV.B.b", ORDERS[0])])
    cli("kv del B b --force", status=0)
    cli(f"export kv B --to {tmp_path}/out --decode avro --registry {registry.url}", status=0)
    found = spark.read.parquet(f"{tmp_path}/out/B").orderBy("key").toArrow().to_pylist()
    assert [(row["key"], row["id"], row["city"], row["operation"]) for row in found] == [
        ("a", 2, "X", "put"),
        ("b", None, None, "delete"),
    ]


def test_the_source(spark: Any, url: str, registry: Registry, tmp_path: Path) -> None:
    fill(url, *ORDERS)
    fill(url, with_id(5, protobuf_payload(7, city="X"), b"\0"), stream="PROTO")
    fill(url, b"plain", stream="PLAIN")
    options = {"servers": url, "decode": "avro", "registry": registry.url}
    reader = spark.read.format("jetstream").options(**options)
    assert values(rows(reader.option("stream", "S").load())) == EXPECTED
    (tmp_path / "old.avsc").write_text(OLD.replace("int", "long"))
    old = reader.options(stream="S", schemaFile=f"{tmp_path}/old.avsc", columns="id,sequence").load()
    assert [row["id"] for row in rows(old)] == [1, 2, None, None, 4]
    proto = {**options, "decode": "protobuf", "stream": "PROTO"}
    (row,) = rows(spark.read.format("jetstream").options(**proto).load())
    assert (row["id"], row["to"]) == (7, {"city": "X"})
    with pytest.raises(Exception, match="no message of PLAIN begins with the id of a schema"):
        spark.read.format("jetstream").options(**options, stream="PLAIN").load()
    query = (
        spark.readStream.format("jetstream")
        .options(**options, stream="S", startingOffsets="earliest")
        .load()
        .writeStream.format("parquet")
        .option("checkpointLocation", f"{tmp_path}/point")
        .trigger(availableNow=True)
        .start(f"{tmp_path}/table")
    )
    query.awaitTermination(100)
    assert values(rows(spark.read.parquet(f"{tmp_path}/table"))) == EXPECTED
    messages = spark.read.format("jetstream").options(servers=url, stream="S").load()
    assert values(rows(decode(messages, "avro", schema=NEW, registry=registry.url))) == EXPECTED


def test_stream_view(cli: Cli, url: str, registry: Registry) -> None:
    fill(url, *ORDERS, with_id(5, protobuf_payload(7, city="X"), b"\0"))
    line = f"stream view S --registry {registry.url}"
    raw = cli(f"{line} --raw", status=0).out.splitlines()
    assert [json.loads(raw[place]) for place in (0, 1, 4)] == [
        {"id": 1},
        {"id": 2, "city": "X"},
        {"id": 4, "city": None},
    ]
    assert raw[3] == "plain"
    assert json.loads(raw[5])["to"] == {"city": "X"}
    assert '{"id": 2, "city": "X"}' in cli(line, status=0).out
    assert cli(f"{line} --json", status=0).json[1]["decoded"] == {"id": 2, "city": "X"}
    assert sum(path == "/apis/ccompat/v7/schemas/ids/2" for path in registry.requests) == 1
    registry.authorization = "Bearer t"
    with serve("/apis/ccompat/v7") as other:
        other.add(1, OLD)
        other.authorization = "Bearer t"
        assert "refuses the login" in cli(f"stream view S --registry {other.url}", status=5).err
    with serve() as other:
        other.add(1, OLD)
        other.authorization = "Bearer t"
        environ = {"JSCTL_REGISTRY_TOKEN": "t"}
        assert '{"id": 1}' in cli(f"stream view S 1 --registry {other.url}", environ=environ, status=0).out
    assert "--translate cannot be used with" in cli(f"{line} --translate cat", status=64).err
    assert "is not the address" in cli("stream view S --registry here", status=64).err
