"""`jsctl import`, with a real server and a real Spark."""

import base64
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support import js
from tests.support.cases import sample
from tests.support.run import Cli

pytestmark = pytest.mark.spark


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def messages(cli: Cli, stream: str) -> int:
    return int(js.info(cli.environ["NATS_URL"], stream)["state"]["messages"])


def exported(spark: Any, cli: Cli, to: Path) -> None:
    """The stream ORDERS with three messages, in one Parquet table."""
    url = cli.environ["NATS_URL"]
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish_all(url, [("ORDERS.new", b"\xff1"), ("ORDERS.paid", b"same"), ("ORDERS.paid", b"same")])
    cli("publish ORDERS.new four -H Nats-Msg-Id:mine -H K:V --jetstream", status=0)
    options = {"servers": url, "stream": "ORDERS", "includeHeaders": "true", "minPartitions": "2"}
    spark.read.format("jetstream").options(**options).load().write.parquet(str(to))


def test_an_export_under_another_name_and_again(spark: Any, cli: Cli, tmp_path: Path) -> None:
    url = cli.environ["NATS_URL"]
    exported(spark, cli, tmp_path / "orders")
    js.stream(url, "COPY", "COPY.>", allow_direct=True)
    line = f"import {tmp_path}/orders --stream COPY --map ORDERS=COPY"
    dry = cli(f"{line} --dry-run", status=0)
    assert dry.out == "would publish 4 messages (14 B) to COPY, on COPY.new, COPY.paid\n"
    assert messages(cli, "COPY") == 0
    done = cli(line, status=0)
    assert re.fullmatch(r"published 4 messages \(14 B\) to COPY, no duplicates, in \d+\.\ds\n", done.out)
    options = {"servers": url, "stream": "COPY", "includeHeaders": "true"}
    rows = spark.read.format("jetstream").options(**options).load().orderBy("sequence").toArrow().to_pylist()
    assert [(row["subject"], row["data"]) for row in rows] == [
        ("COPY.new", b"\xff1"),
        ("COPY.paid", b"same"),
        ("COPY.paid", b"same"),
        ("COPY.new", b"four"),
    ]
    assert ("K", b"V") in [(h["key"], h["value"]) for h in rows[3]["headers"]]
    assert "mine" not in str(rows[3]["headers"])

    twice = cli(f"{line} --json", status=0).json
    assert (twice["published"], twice["duplicates"], messages(cli, "COPY")) == (0, 4, 4)
    cli(f"{line} --again --keep-ids --tasks 2 --where \"subject = 'ORDERS.new'\"", status=0)
    assert messages(cli, "COPY") == 6


def test_json_with_a_subject(spark: Any, cli: Cli, tmp_path: Path) -> None:
    js.stream(cli.environ["NATS_URL"], "S", "in.>")
    file = lines(tmp_path / "a.json", {"data": "one"}, {"data": "one"}, {"data": "two"})
    assert "no column subject" in cli(f"import {file} --stream S", status=64).err
    done = cli(f"import {file} --stream S --subject x --prefix in", status=0)
    assert done.out.startswith("published 3 messages (9 B) to S, no duplicates")
    assert "published 0 messages (0 B) to S, 3 duplicates dropped" in (
        cli(f"import {file} --stream S --subject x --prefix in", status=0).out.replace("(9 B)", "(0 B)")
    )
    wrong = cli(f"import {file} --stream S --subject out.x", status=4)
    assert wrong.err.startswith("jsctl: error: no stream stores out.x; jsctl stream ls lists the streams")
    assert wrong.err.count("\n") == 1
    refused = cli(f"import {file} --stream S --subject out.x --dry-run", status=64)
    assert "stream S does not store what is published to out.x" in refused.err
    js.stream(cli.environ["NATS_URL"], "OTHER", "other.>")
    wrong = cli(f"import {file} --stream S --subject other.x", status=64)
    assert wrong.err == (
        "jsctl: error: stream OTHER stores these messages, not S; use subjects that S stores\n"
    )
    assert messages(cli, "OTHER") == 0


@pytest.mark.parametrize(
    ("flags", "status", "words"),
    [
        ("a.json --stream NONE", 3, "there is no stream NONE; create it with jsctl stream add"),
        ("none.json --stream S", 3, "none.json does not exist"),
        ("b.txt --stream S", 64, "holds no parquet, json, csv, orc"),
        ("a.json --stream S --map ORDERS", 64, "is not FROM=TO"),
        ("a.json --stream S --subject 'a b'", 64, "is not a valid subject"),
        ("a.json --stream M", 64, "M is a mirror"),
        ("a.json", 64, "--stream"),
    ],
)
def test_wrong_use(cli: Cli, tmp_path: Path, flags: str, status: int, words: str) -> None:
    js.stream(cli.environ["NATS_URL"], "S", "S.>")
    js.stream(cli.environ["NATS_URL"], "M", mirror={"name": "S"})
    lines(tmp_path / "a.json", {"subject": "S.a", "data": "x"})
    (tmp_path / "b.txt").touch()
    wrong = cli(f"import {tmp_path}/{flags}", status=status)
    assert words in wrong.err
    assert wrong.err.count("\n") == 1


def test_columns_that_are_missing_or_broken(spark: Any, cli: Cli, tmp_path: Path) -> None:
    js.stream(cli.environ["NATS_URL"], "S", "S.>")
    pq.write_table(pa.table({"subject": ["S.a"], "payload": ["x"]}), tmp_path / "a.parquet")
    assert "has no column data; it has subject, payload" in (
        cli(f"import {tmp_path}/a.parquet --stream S", status=64).err
    )
    (tmp_path / "broken.parquet").write_bytes(b"no parquet")
    broken = cli(f"import {tmp_path}/broken.parquet --stream S", status=64)
    assert "Spark cannot read" in broken.err
    assert broken.err.count("\n") == 1


@pytest.mark.parametrize("format", sample(["parquet", "orc", "json", "csv"], 2))
def test_one_damaged_file_of_a_folder_is_named(spark: Any, cli: Cli, tmp_path: Path, format: str) -> None:
    url = cli.environ["NATS_URL"]
    js.stream(url, "S", "S.>")
    rows = [(f"S.{number}", str(number % 7) * 300) for number in range(3000)]
    frame = spark.createDataFrame(rows, "subject string, data string").repartition(3)
    frame.write.format(format).option("header", "true").save(str(tmp_path / "in"))
    file = sorted((tmp_path / "in").glob("part-*"))[1]
    data = bytearray(file.read_bytes())
    middle = len(data) // 3
    data[middle : middle + 200] = bytes(byte ^ 0xFF for byte in data[middle : middle + 200])
    file.write_bytes(data)
    for checksum in (tmp_path / "in").glob(".*.crc"):
        checksum.unlink()
    refused = cli(f"import {tmp_path}/in --stream S", status=64)
    assert str(file) in refused.err and "is damaged; nothing was published" in refused.err
    assert refused.err.count("\n") == 1
    assert messages(cli, "S") == 0


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("subject,data\nS.a,x\nS.b\n", "line 3 is damaged"),
        ("subject,data\nS.a,x\nS.b,y,z\n", "line 3 is damaged"),
        ('subject,data\nS.a,x\nS.b,"y\n', "after line 3 is damaged"),
    ],
)
def test_a_damaged_line_of_csv_is_named(spark: Any, cli: Cli, tmp_path: Path, text: str, line: str) -> None:
    js.stream(cli.environ["NATS_URL"], "S", "S.>")
    (tmp_path / "in.csv").write_text(text)
    refused = cli(f"import {tmp_path}/in.csv --stream S", status=64)
    assert f"in.csv {line}; nothing was published" in refused.err
    assert messages(cli, "S") == 0


PAYLOADS = [b"\xff\x00\x01", b"", b' "a",\r\n\\b', "ä".encode(), b"null", b'{"id": 7}', b"AAE="]
HEADERS = b'NATS/1.0\r\nK: 1\r\nOther: \xff\xfe\r\nK: 2\r\nk: 3, "x"\r\nEmpty:\r\n\r\n'


def raw(cli: Cli, stream: str) -> list[tuple[str, str, str]]:
    """(subject, data, headers) of every message, both in base64 as the server says them."""
    url = cli.environ["NATS_URL"]
    last = js.info(url, stream)["state"]["last_seq"]
    results = [js.ask(url, f"STREAM.MSG.GET.{stream}", {"seq": n})["message"] for n in range(1, last + 1)]
    return [(m["subject"], m.get("data", ""), m.get("hdrs", "")) for m in results]


def pairs(text: str) -> list[tuple[bytes, bytes]]:
    """Header lines but the message id and the stream, which an import adds."""
    lines = [line.partition(b":") for line in base64.b64decode(text).split(b"\r\n")[1:] if line]
    return [
        (key, value.strip())
        for key, _, value in lines
        if key not in (b"Nats-Msg-Id", b"Nats-Expected-Stream")
    ]


@pytest.mark.parametrize("format", sample(["parquet", "json", "csv", "orc"], 2))
def test_an_export_of_any_form_comes_back_as_it_was(
    spark: Any, cli: Cli, tmp_path: Path, format: str
) -> None:
    url = cli.environ["NATS_URL"]
    for name in ("ORDERS", "LOGS", "COPY"):
        js.stream(url, name, f"{name}.>", allow_direct=True)
    js.publish_all(url, [("ORDERS.a.b", payload) for payload in PAYLOADS])
    js.publish_framed(url, "ORDERS.c", HEADERS, PAYLOADS[0])
    js.publish_all(url, [("LOGS.x", b"\xfe")])
    flags = f"--format {format} --headers --partition-by subject:2"
    cli(f"export stream ORDERS LOGS --to {tmp_path}/out {flags}", status=0)
    line = f"import {tmp_path}/out/ORDERS --stream COPY --map ORDERS=COPY --map LOGS=COPY.logs"
    assert cli(f"{line} --json", status=0).json["published"] == 8
    before, after = raw(cli, "ORDERS"), raw(cli, "COPY")
    assert [one[1] for one in after] == [one[1] for one in before]
    assert [one[0].replace("COPY", "ORDERS") for one in after] == [one[0] for one in before]
    assert [pairs(one[2]) for one in after] == [pairs(one[2]) for one in before]
    both = cli(f"{line.replace('/ORDERS ', ' ')} --json", status=0).json
    assert (both["published"], both["duplicates"]) == (1, 8)
    assert raw(cli, "COPY")[-1][:2] == ("COPY.logs.x", base64.b64encode(b"\xfe").decode())


@pytest.mark.parametrize(
    ("format", "decode"),
    sample(
        [
            ("parquet", "text"),
            ("csv", "text"),
            ("csv", "base64"),
            ("parquet", "base64"),
            ("parquet", "json --keep-data"),
            ("csv", "json --keep-data"),
        ],
        2,
    ),
)
def test_decoded_payloads_come_back(spark: Any, cli: Cli, tmp_path: Path, format: str, decode: str) -> None:
    url = cli.environ["NATS_URL"]
    for name in ("ORDERS", "COPY"):
        js.stream(url, name, f"{name}.>", allow_direct=True)
    js.publish_all(url, [("ORDERS.a", payload) for payload in PAYLOADS])
    cli(f"export stream ORDERS --to {tmp_path}/out --format {format} --decode {decode}", status=0)
    cli(f"import {tmp_path}/out --stream COPY --map ORDERS=COPY", status=0)
    assert [one[1] for one in raw(cli, "COPY")] == [one[1] for one in raw(cli, "ORDERS")]


def test_headers_that_a_stream_refuses_and_parts_of_an_export(spark: Any, cli: Cli, tmp_path: Path) -> None:
    url = cli.environ["NATS_URL"]
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True, allow_msg_ttl=True)
    js.stream(url, "COPY", "COPY.>", allow_direct=True)
    js.publish_framed(url, "ORDERS.ttl", b"NATS/1.0\r\nNats-TTL: 1h\r\nK: V\r\n\r\n", b"one")
    js.publish_all(url, [("ORDERS.plain", b"\xff")])
    cli(
        f"export stream ORDERS --to {tmp_path}/out --headers --format json --partition-by subject:2", status=0
    )
    line = f"import {tmp_path}/out --stream COPY --map ORDERS=COPY"
    for flag in ("--dry-run", ""):
        refused = cli(f"{line} {flag}", status=64)
        assert refused.err == (
            "jsctl: error: COPY refuses the header Nats-TTL without allow_msg_ttl, and 1 message has it;"
            " --drop-header 'Nats-TTL' leaves it out\n"
        )
    assert messages(cli, "COPY") == 0
    # A part of the export, and then all of it: what is there already is not stored again.
    part = next((tmp_path / "out" / "ORDERS").glob("*=plain"))
    assert cli(f"{line.replace('/out', f'/out/ORDERS/{part.name}')} --json", status=0).json["published"] == 1
    done = cli(f"{line} --drop-header nats-ttl --json", status=0).json
    assert (done["published"], done["duplicates"]) == (1, 1)
    assert [one[1] for one in raw(cli, "COPY")] == ["/w==", "b25l"]
    assert pairs(raw(cli, "COPY")[1][2]) == [(b"K", b"V")]

    shutil.copytree(tmp_path / "out" / "ORDERS", tmp_path / "alone")
    alone = f"import {tmp_path}/alone --stream COPY --map ORDERS=COPY --drop-header 'Nats-T*'"
    assert cli(f"{alone} --json", status=0).json["published"] == 2
    columns = {"stream": "O", "sequence": 1, "timestamp": "2026-11-21T06:57:05Z", "subject": "COPY.a"}
    earlier = f"import {lines(tmp_path / 'a.json', {**columns, 'data': '/w=='})} --stream COPY"
    unclear = cli(earlier, status=64).err
    assert "does not say whether its data is base64; use --base64, or --no-base64" in unclear
    cli(f"{earlier} --base64", status=0)
    assert raw(cli, "COPY")[-1][1] == "/w=="
    assert "is not the name of a header" in cli(f"{line} --drop-header 'a b'", status=64).err


def test_an_export_without_payloads_is_refused(spark: Any, cli: Cli, tmp_path: Path) -> None:
    js.stream(cli.environ["NATS_URL"], "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish(cli.environ["NATS_URL"], "ORDERS.a", b'{"id": 1}')
    cli(f"export stream ORDERS --to {tmp_path}/out --decode json", status=0)
    refused = cli(f"import {tmp_path}/out --stream ORDERS", status=64)
    assert refused.err.endswith("was exported with --decode json; export it with --keep-data\n")
    other = cli(f"import {tmp_path}/out --stream ORDERS --format csv", status=64)
    assert "was exported as parquet; leave --format out" in other.err
    other = cli(f"import {tmp_path}/out --stream ORDERS --base64", status=64)
    assert "which records what is base64; leave --base64 out" in other.err
    file = lines(tmp_path / "a.json", {"subject": "ORDERS.a", "data": "***"})
    broken = cli(f"import {file} --stream ORDERS --base64", status=1)
    assert "base64" in broken.err.lower() and broken.err.count("\n") == 1, broken.err
