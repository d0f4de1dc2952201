"""`jsctl import`, with a real server and a real Spark."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support import js
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
        ("COPY.new", b"\xff1"), ("COPY.paid", b"same"), ("COPY.paid", b"same"), ("COPY.new", b"four"),
    ]  # fmt: skip
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
    assert wrong.err.startswith("jsctl: error: no stream takes out.x; jsctl stream ls shows the streams")
    assert wrong.err.count("\n") == 1
    refused = cli(f"import {file} --stream S --subject out.x --dry-run", status=64)
    assert "S does not take out.x" in refused.err


@pytest.mark.parametrize(
    ("flags", "status", "said"),
    [
        ("a.json --stream NONE", 3, "there is no stream NONE; jsctl stream add makes one"),
        ("none.json --stream S", 3, "there is no "),
        ("b.txt --stream S", 64, "holds neither Parquet nor JSON"),
        ("a.json --stream S --map ORDERS", 64, "is not FROM=TO"),
        ("a.json --stream S --subject 'a b'", 64, "is no subject"),
        ("a.json --stream M", 64, "M is a mirror"),
        ("a.json", 64, "--stream"),
    ],
)
def test_wrong_use(cli: Cli, tmp_path: Path, flags: str, status: int, said: str) -> None:
    js.stream(cli.environ["NATS_URL"], "S", "S.>")
    js.stream(cli.environ["NATS_URL"], "M", mirror={"name": "S"})
    lines(tmp_path / "a.json", {"subject": "S.a", "data": "x"})
    (tmp_path / "b.txt").touch()
    wrong = cli(f"import {tmp_path}/{flags}", status=status)
    assert said in wrong.err
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
