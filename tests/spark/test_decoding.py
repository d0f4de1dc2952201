"""Payloads of every encoding as columns: in exports, and in frames."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from jsctl.errors import BadInput
from jsctl.spark import decode
from tests.support import js
from tests.support.run import Cli
from tests.support.schemas import AVRO, avro_payload, descriptors, protobuf_payload

pytestmark = pytest.mark.spark


def rows(spark: Any, path: Path) -> list[dict[str, Any]]:
    table = spark.read.parquet(str(path)).orderBy("sequence").drop("timestamp", "stream")
    result: list[dict[str, Any]] = table.toArrow().to_pylist()
    return result


def test_exports_of_avro_protobuf_and_variants(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    (tmp_path / "order.avsc").write_text(AVRO)
    (tmp_path / "order.desc").write_bytes(descriptors())
    for name, payloads in {
        "AVRO": (
            b"\0\0\0\0\7" + gzip.compress(b"no"),
            gzip.compress(b"\0\0\0\0\7" + avro_payload(1, city="X")),
        ),
        "PROTO": (protobuf_payload(1, city="X"), b"\xff"),
        "JSON": (b'{"a": [1, "x"]}', b"7", b"\xff", b'{"a": 1'),
        "PACKED": (gzip.compress(b"text"), b"text", b"\x1f\x8bcut"),
        "ZIPPED": (gzip.compress(b'{"id": 7}'), b"no"),
    }.items():
        js.stream(url, name, f"{name}.>", allow_direct=True)
        js.publish_all(url, [(f"{name}.a", payload) for payload in payloads])
    export = f"--to {tmp_path}/out --incremental --verify --json"

    avro = f"--decode avro --schema-file {tmp_path}/order.avsc --registry true --decompress auto --keep-data"
    assert cli(f"export stream AVRO {export} {avro}", status=0).json["bad"] == 1
    bad, good = rows(spark, tmp_path / "out" / "AVRO")
    assert bad["bad_payload"][:5] == b"\0\0\0\0\7" and bad["id"] is None
    assert (good["id"], good["state"], good["to"], good["bad_payload"]) == (1, "NEW", {"city": "X"}, None)
    assert gzip.decompress(good["data"])[5:] == avro_payload(1, city="X")  # as the stream has it

    protobuf = f"--decode protobuf --schema-file {tmp_path}/order.desc --message shop.Order"
    assert cli(f"export stream PROTO {export} {protobuf}", status=0).json["bad"] == 1
    good, bad = rows(spark, tmp_path / "out" / "PROTO")
    assert (good["id"], good["tags"], good["counts"], bad["bad_payload"]) == (
        1,
        ["a", "b"],
        [("x", 1)],
        b"\xff",
    )

    assert cli(f"export stream JSON {export} --decode variant", status=0).json["bad"] == 2
    sql = "SELECT sequence, value, variant_get(value, '$.a[0]', 'int') AS first FROM JSON ORDER BY sequence"
    answer = cli(["export", "query", "--from", f"{tmp_path}/out", sql, "--json"], status=0).json
    assert [(row["value"], row["first"]) for row in answer] == [
        ({"a": [1, "x"]}, 1),
        (7, None),
        (None, None),
        (None, None),
    ]

    assert cli(f"export stream PACKED {export} --decompress auto", status=0).json["bad"] == 1
    assert [(row["data"], row["bad_payload"]) for row in rows(spark, tmp_path / "out" / "PACKED")] == [
        (b"text", None),
        (b"text", None),
        (None, b"\x1f\x8bcut"),
    ]
    assert cli(f"export stream ZIPPED {export} --decode json --decompress gzip", status=0).json["bad"] == 1
    good, bad = rows(spark, tmp_path / "out" / "ZIPPED")  # the fields are those of what was packed
    assert (good["id"], bad["id"], bad["bad_payload"]) == (7, None, b"no")
    refused = cli(f"import {tmp_path}/out/PACKED --stream PACKED", status=64).err
    assert "were decompressed; export it without --decompress" in refused


def test_frames(spark: Any) -> None:
    payloads = [(1, protobuf_payload(7, city="X")), (2, b"\xff")]
    frame = spark.createDataFrame(payloads, "sequence long, data binary")
    decoded = decode(frame, "protobuf", schema=descriptors(), message="shop.Order").orderBy("sequence")
    good, bad = decoded.toArrow().to_pylist()
    assert (good["sequence"], good["id"], good["to"], good["bad_payload"]) == (1, 7, {"city": "X"}, None)
    assert (bad["sequence"], bad["id"], bad["bad_payload"]) == (2, None, b"\xff")
    frame = spark.createDataFrame([(b'{"id": 1}',), (b"no",)], "data binary")
    assert decode(frame, "json", schema="id INT").orderBy("id").toArrow().to_pylist() == [
        {"id": None, "bad_payload": b"no"},
        {"id": 1, "bad_payload": None},
    ]
    for wrong in ({"kind": "xml"}, {"kind": "avro"}, {"decompress": "rar"}, {"kind": "avro", "schema": "{"}):
        with pytest.raises(BadInput):
            decode(frame, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--decode avro", "--decode avro needs a schema; name an Avro schema"),
        ("--decode protobuf", "needs a schema; name a descriptor file"),
        ("--decode avro --schema-file {}/none", "none"),
        ("--decode avro --schema-file {}/bad", "the Avro schema is not valid"),
        ("--decode json --registry true", "--registry is for --decode avro or protobuf"),
        ("--decompress rar", "rar"),
    ],
)
def test_wrong_command_lines(offline_cli: Cli, tmp_path: Path, flags: str, words: str) -> None:
    (tmp_path / "bad").write_text("{")
    refused = offline_cli(f"export stream S --to {tmp_path}/out {flags.format(tmp_path)}", status=64)
    assert words in refused.err and refused.err.count("\n") == 1
