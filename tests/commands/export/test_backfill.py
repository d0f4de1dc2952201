"""`export stream --backfill`: a range of a table is written again in one commit, and nothing else changes."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.commands.export.conftest import Lake
from tests.commands.export.test_stream import fill, sequences
from tests.support import js
from tests.support.cases import sample
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.spark


def checkpoint(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "_checkpoints" / "ORDERS.json").read_text())
    return content


def rows(cli: Cli, folder: Any, sql: str) -> Any:
    return cli(["export", "query", "--from", str(folder), sql, "--json"], status=0).json


@pytest.mark.parametrize("format", sample(["parquet", "csv"], 2))
def test_a_range_is_written_again(cli: Cli, url: str, spark: Any, tmp_path: Path, format: str) -> None:
    """New fields of messages that were exported before are filled in; what is only in the table stays."""
    fill(url, 30, payload=b'{"id": %d}')
    to = tmp_path / "out"
    flags = f"--to {to} --format {format} --decode json --partition-by subject:2"
    line = f"export stream ORDERS {flags} --json"
    cli(f"{line} --incremental", status=0)
    if format == "parquet":  # as if an earlier run had decoded it otherwise
        js.publish(url, "ORDERS.0.x", b'{"id": 31, "new": "x"}')
        cli(f"{line} --incremental", status=0)
    before = checkpoint(to)
    js.ask(url, "STREAM.PURGE.ORDERS", {"seq": 6})
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 8})
    done = cli(f"{line} --backfill --from-seq 3 --to-seq 12", status=0).json
    assert (done["exported"], done["lost"]) == (6, 0)  # 6, 7 and 9 to 12
    after = checkpoint(to)
    for key in ("from", "next", "created", "exported", "deleted", "lost", "bad"):
        assert after[key] == before[key], key
    found = rows(cli, to, "SELECT sequence, id FROM ORDERS ORDER BY sequence")
    assert [row["sequence"] for row in found] == [*range(1, after["next"])]
    assert [int(row["id"]) for row in found] == [*range(1, after["next"])]
    verified = cli(f"{line} --incremental --verify", status=0).json["streams"][0]["verified"]
    assert verified["same"] and verified["gone"] == 6
    fill(url, 5, payload=b'{"id": %d}')
    assert cli(f"{line} --incremental", status=0).json["exported"] == 5


def test_fields_that_came_later_are_filled_in(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    to = tmp_path / "out"
    line = f"export stream ORDERS --to {to} --decode json"
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish_all(url, [("ORDERS.a", b'{"id": 1}')] * 3)
    cli(f"{line} --incremental", status=0)
    table = next(file for file in (to / "ORDERS").iterdir() if file.suffix == ".parquet")
    settings = checkpoint(to)
    # As an earlier run left it, which knew one field, and had messages with two.
    js.ask(url, "STREAM.DELETE.ORDERS")
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish_all(url, [(f"ORDERS.{'acb'[n]}", b'{"id": %d, "at": {"x": 1}}' % n) for n in range(3)])
    settings["created"] = js.info(url, "ORDERS")["created"]
    (to / "_checkpoints" / "ORDERS.json").write_text(json.dumps(settings))
    done = cli(f"{line} --backfill --from-seq 2 --sort-by subject", status=0)
    orders = [pq.read_table(file)["sequence"].to_pylist() for file in (to / "ORDERS").glob("*.parquet")]
    assert sorted(orders) == [[1], [3, 2]], "each file is in the order of the subjects"
    assert done.err == "jsctl: ORDERS has new columns or fields: at\n" and not table.exists()
    assert rows(cli, to, "SELECT id, at.x AS x FROM ORDERS ORDER BY sequence") == [
        {"id": 1, "x": None},
        {"id": 1, "x": 1},
        {"id": 2, "x": 1},
    ]


def test_in_an_object_store(cli: Cli, url: str, spark: Any, lake: Lake) -> None:
    fill(url, 20)
    line = f"export stream ORDERS --to {lake.root}/out"
    cli(f"{line} --incremental", status=0)
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 8})
    assert cli(f"{line} --backfill --from-seq 5 --to-seq 9 --json", status=0).json["exported"] == 4
    count = "SELECT count(*) AS n, count(DISTINCT sequence) AS s FROM ORDERS"
    assert rows(cli, f"{lake.root}/out", count) == [{"n": 20, "s": 20}]
    assert cli(f"{line} --incremental --verify --json", status=0).json["exported"] == 0


def test_what_is_refused(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, 20)
    to = tmp_path / "out"
    line = f"export stream ORDERS --to {to}"
    cases = [
        ("--backfill --from-seq 1", "has no table ORDERS with a position; export it first"),
        ("--backfill", "--backfill needs a range; --since and --until, or --from-seq and --to-seq"),
        ("--backfill --from-seq 1 --incremental", "cannot be used with --incremental, --follow and --mode"),
    ]
    for flags, words in cases:
        failed = cli(f"{line} {flags}", status=64)
        assert words in failed.err and failed.err.count("\n") == 1
    assert not to.exists()
    cli(f"{line} --incremental --from-seq 5", status=0)
    fill(url, 10)
    for flags, words in (
        ("--backfill --from-seq 4", "ORDERS has the sequences 5 to 20, and the range is not a part of them"),
        ("--backfill --from-seq 21", "the range is not a part of them; --incremental exports what follows"),
        ("--incremental --from-seq 5", "continues at sequence 21: --from-seq and --since say where a new"),
        ("--incremental --since 1h", "leave them out, or add --backfill to write a range again"),
        ("--backfill --to-seq 9 --headers", "was exported with other --headers"),
    ):
        failed = cli(f"{line} {flags}", status=64)
        assert words in failed.err and failed.err.count("\n") == 1
    js.ask(url, "STREAM.PURGE.ORDERS", {"seq": 16})
    gone = cli(f"{line} --backfill --to-seq 9", status=1).err
    assert "ORDERS starts at sequence 16, and has nothing of this range any more; the table keeps it" in gone
    assert sequences(to / "ORDERS") == list(range(5, 21))
    cli(f"{line} --incremental", status=0)
    js.ask(url, "STREAM.DELETE.ORDERS")
    fill(url, 40)
    again = cli(f"{line} --backfill --to-seq 9", status=1).err
    assert "was created again" in again and "export it to another folder or table" in again
    assert sequences(to / "ORDERS") == list(range(5, 31))


def test_too_many_bad_payloads(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    """Nothing is written, for streams and buckets, and the next run finds the same."""
    fill(url, 5, payload=b'{"id": %d}')
    to = tmp_path / "out"
    line = f"export stream ORDERS --to {to} --decode json --incremental"
    assert cli(f"{line} --fail-on-bad 1", status=0).err == ""
    fill(url, 2, payload=b"no")
    for _ in range(2):
        failed = cli(f"{line} --fail-on-bad 2", status=1)
        assert failed.err == (
            "jsctl: error: 2 payloads of ORDERS cannot be decoded, and nothing was written; without"
            " --fail-on-bad, they are in the column bad_payload\n"
        )
        assert sequences(to / "ORDERS") == [1, 2, 3, 4, 5]
    assert cli(f"{line} --fail-on-bad 3 --json", status=0).json["bad"] == 2
    assert (
        "2 payloads of ORDERS"
        in cli(f"{line.replace('--incremental', '--backfill')} --from-seq 1 --fail-on-bad 1", status=1).err
    )
    js.stream(url, "KV_B", "$KV.B.>", allow_direct=True)
    js.publish_all(url, [("$KV.B.a", b"1"), ("$KV.B.b", b"no")])
    bucket = f"export kv B --to {tmp_path}/kv --decode variant"
    assert "1 payload of B cannot be decoded" in cli(f"{bucket} --fail-on-bad 1", status=1).err
    assert not (tmp_path / "kv" / "B").exists()
    cli(f"{bucket} --fail-on-bad 2", status=0)
    for flags, words in (
        ("--fail-on-bad 1", "--fail-on-bad is for payloads that are decoded; add --decode"),
        ("--decode json --fail-on-bad -1", "--fail-on-bad must be 1 or more"),
        ("--decode json --fail-on-bad 0", "--fail-on-bad must be 1 or more"),
    ):
        assert words in cli(f"export stream ORDERS --to {tmp_path}/x {flags}", status=64).err


@pytest.mark.parametrize(
    ("mirror", "first", "rows"),
    [
        ({"filter_subject": "O.1"}, 1, 67),
        ({"opt_start_seq": 168}, 168, 33),
        ({"subject_transforms": [{"src": "O.1", "dest": "X.1"}]}, 1, 67),
    ],
)
def test_what_a_part_of_a_stream_lacks_was_not_deleted(
    cli: Cli, url: str, spark: Any, tmp_path: Path, mirror: dict[str, Any], first: int, rows: int
) -> None:
    """A mirror of some subjects, or from a start on: also when it was empty at the first run."""
    js.stream(url, "O", "O.>", allow_direct=True)
    js.stream(url, "M", mirror={"name": "O", **mirror}, allow_direct=True)
    line = f"export stream M --to {tmp_path}/out --incremental --verify --json"
    cli(line, status=0)
    js.publish_all(url, [(f"O.{n % 3}", b"x") for n in range(1, 201)])
    wait_for(lambda: js.info(url, "M")["state"]["messages"] == rows, "the mirror's messages")
    done = cli(line, status=0).json
    assert (done["exported"], done["deleted"], done["lost"]) == (rows, None, 0)
    assert done["streams"][0]["first"] == first
    js.publish_all(url, [(f"O.{n % 3}", b"x") for n in range(1, 7)])
    more = 6 if first > 1 else 2
    wait_for(lambda: js.info(url, "M")["state"]["messages"] == rows + more, "the mirror's messages")
    assert ", deleted not counted, lost 0, in " in cli(line.replace(" --json", ""), status=0).out
    refused = cli(f"{line} --fail-on-deleted", status=64).err
    assert "what was deleted from M is unknown, as it mirrors a part of O" in refused
    js.stream(url, "ALL", mirror={"name": "O"}, allow_direct=True)
    js.wait_until_stored(url, "ALL", 206)
    js.ask(url, "STREAM.MSG.DELETE.ALL", {"seq": 5})
    assert cli(f"export stream ALL --to {tmp_path}/all --json", status=0).json["deleted"] == 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM ORDER",
        "SELECT * FROM ORDERS o JOIN customers c ON o.sequence = c.id",
        "SELECT (SELECT max(id) FROM customers) FROM ORDERS",
        "WITH x AS (SELECT * FROM `ORDERS`, none) SELECT 1",
    ],
)
def test_a_query_about_a_table_that_will_not_be_there(
    cli: Cli, url: str, spark: Any, tmp_path: Path, sql: str
) -> None:
    """It is refused before anything is written."""
    fill(url, 3)
    line = ["export", "stream", "ORDERS", "--to", f"{tmp_path}/out"]
    failed = cli([*line, "--query", sql], status=64)
    assert "which is no table; the export writes ORDERS" in failed.err and failed.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
    shown = cli(
        [*line, "--query", "SELECT count(*) AS n FROM orders JOIN Orders x USING (sequence)", "--json"],
        status=0,
    )
    assert shown.json["query"] == [{"n": 3}]
    js.stream(url, "KV_B", "$KV.B.>", allow_direct=True)
    bucket = ["export", "kv", "B", "--to", f"{tmp_path}/kv"]
    assert "the export writes B" in cli([*bucket, "--query", "SELECT * FROM none"], status=64).err
    assert not (tmp_path / "kv").exists()


def test_of_a_filtered_mirror_nobody_knows_what_was_deleted(
    cli: Cli, url: str, spark: Any, tmp_path: Path
) -> None:
    js.stream(url, "ORDERS", "ORDERS.>")
    js.publish_all(url, [(f"ORDERS.{n % 2}", b"x") for n in range(6)])
    js.ask(
        url,
        "STREAM.CREATE.COPY",
        {"name": "COPY", "mirror": {"name": "ORDERS", "filter_subject": "ORDERS.1"}},
    )
    wait_for(lambda: js.info(url, "COPY")["state"]["messages"] == 3, "copies")
    line = f"export stream COPY --to {tmp_path}/out --json"
    for flags in ("--incremental --engine arrow", "--backfill --from-seq 2 --to-seq 6"):
        done = cli(f"{line} {flags}", status=0).json
        assert (done["exported"], done["deleted"]) == (3, None)
