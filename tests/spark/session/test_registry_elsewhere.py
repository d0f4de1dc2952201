"""A schema registry that wants a login, asked by executors that have neither jsctl nor that login: of a
standalone cluster, and of a Connect server."""

import io
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fastavro
import pyarrow.parquet as pq
import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.schema_registry import serve, with_id
from tests.support.spark_cluster import NEEDED, Cluster, bare_python, without_jsctl

pytestmark = [pytest.mark.cluster, pytest.mark.spark, pytest.mark.timeout(300)]

OLD = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}'
NEW = """{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"},
 {"name": "city", "type": "string", "default": "-"}]}"""
LOGIN = {"JSCTL_REGISTRY_USER": "reader", "JSCTL_REGISTRY_PASSWORD": "Tr0ub4dor"}

NOTEBOOK = """
import sys
from pyspark.sql import SparkSession
from jsctl.spark import connect, decode
remote, url, registry, schema = sys.argv[1:]
spark = connect(SparkSession.builder.remote(remote).getOrCreate(), servers=url)
reader = spark.read.format("jetstream").option("stream", "S")
decoded = reader.options(decode="avro", registry=registry).load()
print(sorted(map(tuple, decoded.select("id", "city").collect())))
messages = spark.read.format("jetstream").option("stream", "S").load()
frame = decode(messages, "avro", schema=schema, registry=registry)
print(sorted(map(tuple, frame.select("id", "city").collect())))
"""


def record(schema_id: int, schema: str, **values: object) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), values)
    return with_id(schema_id, out.getvalue())


def all_text(folder: Path) -> str:
    """Of event logs, and of what executors wrote and were given."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".zip"]
    return "\n".join(file.read_text(errors="replace") for file in files)


def test_executors_ask_with_the_login_of_the_driver(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    js.publish_all(url, [("S.a", record(1, OLD, id=1)), ("S.a", record(2, NEW, id=2, city="X"))])
    folder = tmp_path / "spark"
    folder.mkdir()
    packages = (*NEEDED, "fastavro")
    python = bare_python(folder / "python", packages)
    assert without_jsctl(python)
    environ = {**os.environ, **LOGIN, "PYSPARK_PYTHON": str(python), "NATS_URL": url}
    cluster = Cluster(folder, python)
    with serve() as registry:
        registry.add(1, OLD)
        registry.add(2, NEW)
        registry.authorization = "Basic cmVhZGVyOlRyMHViNGRvcg=="
        try:
            with ThreadPoolExecutor(2) as pool:
                for started in (pool.submit(cluster.start_worker), pool.submit(cluster.start_connect)):
                    started.result()
            line = ["export", "stream", "S", "--to", str(tmp_path / "out"), "--master", cluster.master]
            flags = ["--decode", "avro", "--registry", registry.url]
            for arguments in (
                [sys.executable, "-m", "jsctl", *line, *flags],
                [sys.executable, "-c", NOTEBOOK, cluster.remote, url, registry.url, NEW],
            ):
                done = subprocess.run(
                    arguments, env=environ, capture_output=True, text=True, check=False, cwd=tmp_path
                )
                assert done.returncode == 0, done.stderr[-4000:]
                assert "Tr0ub4dor" not in done.stdout + done.stderr
        finally:
            cluster.stop()
    found = pq.read_table(tmp_path / "out" / "S", columns=["id", "city"]).to_pylist()
    assert sorted((row["id"], row["city"]) for row in found) == [(1, "-"), (2, "X")]
    assert done.stdout.splitlines() == ["[(1, '-'), (2, 'X')]"] * 2
    output = all_text(folder / "events") + all_text(folder / "work") + cluster.log("connect")
    assert "Tr0ub4dor" not in output
