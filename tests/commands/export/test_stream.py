"""`jsctl export stream`, with a real server and a real Spark."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.support import js
from tests.support.cases import sample
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.tables import read_table
from tests.support.waiting import wait_for

pytestmark = pytest.mark.spark


def fill(url: str, count: int, name: str = "ORDERS", payload: bytes = b'{"id": %d}') -> None:
    """Messages on NAME.0.x, NAME.1.x, NAME.2.x; the stream is made where there is none."""
    if name not in (js.ask(url, "STREAM.NAMES")["streams"] or []):
        js.stream(url, name, f"{name}.>", allow_direct=True)
    before = js.info(url, name)["state"]["last_seq"]
    numbers = range(before + 1, before + count + 1)
    filled = ((f"{name}.{n % 3}.x", payload % n if b"%d" in payload else payload) for n in numbers)
    js.publish_all(url, filled)
    wait_for(lambda: js.info(url, name)["state"]["last_seq"] == before + count, "messages are missing")


def sequences(folder: Path) -> list[int]:
    return sorted(pq.read_table(folder, columns=["sequence"])["sequence"].to_pylist())


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_parquet_as_people_and_programs_read_it(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, 100)
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 50})
    to = tmp_path / "out"
    done = cli(f"export stream ORDERS --to {to} --verify", status=0)
    written = [file for file in to.rglob("*.parquet") if file.is_file()]
    assert written
    first, second = done.out.splitlines()
    assert first.startswith("exported 99 messages (") and f" to {to}, deleted 1, lost 0, in " in first
    assert second.startswith("verified ORDERS: 99 messages, sequences 1 to 100, digest ")
    assert done.err == ""
    expected = [n for n in range(1, 101) if n != 50]
    assert sequences(to / "ORDERS") == expected
    row = spark.read.parquet(str(to / "ORDERS")).where("sequence = 7").toArrow().to_pylist()[0]
    assert (row["stream"], row["subject"], row["data"]) == ("ORDERS", "ORDERS.1.x", b'{"id": 7}')
    left = [name for name in files(to) if not name.endswith(".parquet")]
    assert left == ["_checkpoints/ORDERS.json", "_jsctl_export.json"]


def test_going_on_with_a_purge_between(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, 60)
    to = tmp_path / "out"
    line = f"export stream ORDERS --to {to} --incremental --json"
    assert cli(line, status=0).json["exported"] == 60
    fill(url, 40)
    assert cli(line, status=0).json["exported"] == 40
    assert cli(line, status=0).json["exported"] == 0
    assert sequences(to / "ORDERS") == list(range(1, 101))
    fill(url, 50)
    js.ask(url, "STREAM.PURGE.ORDERS", {"seq": 121})
    failed = cli(line, status=1)
    failure = json.loads(failed.err)
    assert failure["error"].endswith("after the requested 101: 20 messages are lost")
    assert failure["hint"].startswith("--no-fail-on-data-loss ")
    assert sequences(to / "ORDERS") == list(range(1, 101))
    below = cli(f"export stream ORDERS --to {tmp_path}/other --to-seq 9", status=1)
    assert "--to-seq 9 is before the first message that ORDERS has, 121; --no-fail" in below.err
    lenient = cli(f"{line} --no-fail-on-data-loss --verify", status=0)
    assert (lenient.json["exported"], lenient.json["lost"], lenient.json["deleted"]) == (30, 20, 0)
    assert "ORDERS dropped 20 messages" in lenient.err
    assert lenient.json["streams"][0]["verified"]["gone"] == 100
    assert sequences(to / "ORDERS") == [*range(1, 101), *range(121, 151)]
    other = cli(f"{line} --subject ORDERS.1.x", status=64)
    assert "was exported with other --subject: none" in other.err
    js.ask(url, "STREAM.DELETE.ORDERS")
    fill(url, 500)
    again = cli(line, status=1).err
    assert "different now: export it to another folder or table" in again
    replaced = cli(line.replace(" --incremental", ""))
    assert "with up to 130 rows of messages that the streams no longer have" in replaced.err
    assert "use --incremental, which adds to it, or name another folder" in replaced.err
    assert not re.search("--force|--overwrite|without --incremental", again + replaced.err)
    assert sequences(to / "ORDERS") == [*range(1, 101), *range(121, 151)]
    forced = cli(f"{line.replace(' --incremental', '')} --force", status=0)
    assert forced.err == "jsctl: replacing up to 130 rows of messages that the streams no longer have\n"


def test_one_of_many_that_fails(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    """The others go on; the summary, the data and the status say which failed, in each way to fail."""
    names = ("GOOD", "AGAIN", "GONE", "LOST", "LAST")
    for name in names:
        fill(url, 20, name)
    line = f"export stream {' '.join(names)} --to {tmp_path}/out --incremental --verify"
    cli(line, status=0)
    for name in names:
        fill(url, 10, name)
    js.ask(url, "STREAM.DELETE.AGAIN")
    fill(url, 50, "AGAIN")
    js.ask(url, "STREAM.DELETE.GONE")
    js.ask(url, "STREAM.PURGE.LOST", {"seq": 26})
    done = cli(f"{line} --json", status=1)
    found = {row["table"]: row for row in done.json["streams"]}
    assert {name for name, row in found.items() if "error" in row} == {"AGAIN", "GONE", "LOST"}
    assert [found[name]["exported"] for name in names] == [10, 0, 0, 0, 10]
    assert [found[name].get("verified", {}).get("same") for name in names] == [True, None, None, None, True]
    errors = done.err.splitlines()
    assert [error.split(": ")[:3] for error in errors] == [
        ["jsctl", "error", "AGAIN"],
        ["jsctl", "error", "GONE"],
        ["jsctl", "error", "LOST"],
    ]
    assert found["AGAIN"]["hint"].endswith("export it to another folder or table")
    assert not re.search("--force|--mode|--overwrite|without", done.err + str(done.json))
    shown = cli(line, status=1)
    assert ", failed AGAIN, GONE, LOST, in " in shown.out.splitlines()[0]
    assert all(
        len(sequences(tmp_path / "out" / name)) == 20 + 10 * (name in ("GOOD", "LAST")) for name in names
    )
    only = cli(f"export stream GONE NOPE --to {tmp_path}/other", status=3)
    assert only.err.count("\n") == 1 and not (tmp_path / "other").exists()


def test_a_table_that_exists_is_asked_for(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, 10)
    to = tmp_path / "out"
    line = f"export stream ORDERS --to {to}"
    cli(line, status=0)
    before = files(to)
    assert "--force" in cli(line).err
    assert cli(f"{line} --dry-run", status=0).out == f"Would replace {to}/ORDERS\nNothing was changed\n"
    fresh = cli(f"{line}2 --dry-run --json", status=0).json
    assert fresh["tables"] == [{"table": "ORDERS", "replaces": False}]
    assert files(to) == before and not Path(f"{to}2/ORDERS").exists()
    refused = cli(line, tty=True, answers=[False])
    assert refused.status == 0 and files(to) == before
    cli(f"{line} --force --to-seq 4", status=0)
    assert sequences(to / "ORDERS") == [1, 2, 3, 4]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("precious")
    assert "is not an export of jsctl" in cli(f"export stream ORDERS --to {tmp_path}/other", status=64).err


def test_what_is_chosen(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, 30)
    wait_for(lambda: js.info(url, "ORDERS")["state"]["messages"] == 30, "messages are missing")
    time.sleep(0.01)  # the moment has milliseconds
    moment = time.time()
    fill(url, 30)

    def chosen(flags: str) -> list[int]:
        cli(f"export stream ORDERS --to {tmp_path}/out --force {flags}", status=0)
        return sequences(tmp_path / "out" / "ORDERS")

    assert chosen("--from-seq 10 --to-seq 20") == list(range(10, 21))
    assert chosen("--subject ORDERS.1.x --subject ORDERS.2.x --to-seq 9") == [1, 2, 4, 5, 7, 8]
    when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f"{moment % 1:.3f}"[1:] + "Z"
    assert chosen(f"--since {when}") == list(range(31, 61))
    assert chosen(f"--until {when} --since 1h") == list(range(1, 31))


@pytest.mark.parametrize("format", sample(["json", "csv", "orc", "xml"], 2))
def test_other_formats_and_partitions(cli: Cli, url: str, spark: Any, tmp_path: Path, format: str) -> None:
    fill(url, 9, payload=b' "a",\r\nb\xff %d ')
    fill(url, 1, payload=b"")
    flags = "--partition-by subject:2 --partition-by hour --headers --verify --json"
    done = cli(f"export stream ORDERS --to {tmp_path}/out --format {format} {flags}", status=0).json
    assert done["streams"][0]["verified"]["same"] is True
    folders = sorted(path.name for path in (tmp_path / "out" / "ORDERS").iterdir())
    assert folders == ["subject_2=0", "subject_2=1", "subject_2=2"]
    assert list((tmp_path / "out").glob("ORDERS/subject_2=1/date=*-*-*/hour=*/part-*"))
    sql = "SELECT count(*) AS n, count(DISTINCT sequence) AS s FROM ORDERS"
    result = cli(["export", "query", "--from", str(tmp_path / "out"), sql, "--json"], status=0).json
    assert result == [{"n": 10, "s": 10}]


BAD = [
    b'{"id": "no number"}',
    b"\xff\xfe",
    b"",
    b"[1]",
    b"42",
    b"null",
    b"{",
    b'[{"id": 1}]',
    b'{"id": 1} x',
]


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_json_payloads_with_bad_ones(cli: Cli, url: str, spark: Any, tmp_path: Path, format: str) -> None:
    fill(url, 5, payload=b'{"id": %d, "subject": "mine", "to": {"city": "X"}}')
    for payload in BAD:
        fill(url, 1, payload=payload)
    to = tmp_path / "out"
    schema = "id BIGINT, subject STRING, `to` STRUCT<city: STRING>"
    line = ["export", "stream", "ORDERS", "--to", str(to), "--decode", "json", "--schema", schema, "--verify"]
    done = cli([*line, "--format", format, "--json"], status=0).json
    assert (done["exported"], done["bad"]) == (5 + len(BAD), len(BAD))
    if format == "parquet":
        rows = sorted(pq.read_table(to / "ORDERS").to_pylist(), key=lambda row: row["sequence"])
        assert [row["id"] for row in rows[:5]] == [1, 2, 3, 4, 5]
        assert (rows[0]["subject"], rows[0]["data_subject"]) == ("ORDERS.1.x", "mine")
        assert rows[0]["to"] == {"city": "X"} and rows[0]["bad_payload"] is None
        assert [row["bad_payload"] for row in rows[5:]] == BAD
        assert {row["id"] for row in rows[5:]} == {None}


def test_a_query_that_cannot_be(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, 3)
    line = ["export", "stream", "ORDERS", "--to", str(tmp_path / "out"), "--query"]
    failed = cli([*line, "SELEC 1"], status=64)
    assert failed.err == "jsctl: error: --query is not valid SQL: Syntax error at or near 'SELEC'\n"
    assert not (tmp_path / "out").exists()
    failed = cli([*line, "SELECT nope FROM ORDERS"], status=64)
    done, error = failed.err.splitlines()
    assert done == "3 messages (27 B) exported, deleted 0, lost 0"
    assert "`nope` cannot be resolved" in error
    assert sequences(tmp_path / "out" / "ORDERS") == [1, 2, 3]


def test_fields_are_found_and_kept(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, 5, payload=b'{"id": %d}')
    fill(url, 5, payload=b'{"id": %d, "late": 0.5}')
    fill(url, 1, payload=b"nonsense")
    to = tmp_path / "out"
    sql = "SELECT sum(id) AS ids, count(late) AS late, count(bad_payload) AS bad FROM ORDERS"
    line = [
        "export",
        "stream",
        "ORDERS",
        "--to",
        str(to),
        "--decode",
        "json",
        "--incremental",
        "--query",
        sql,
    ]
    result = cli([*line, "--json"], status=0).json
    assert result["query"] == [{"ids": 55, "late": 5, "bad": 1}] and result["bad"] == 1
    fill(url, 1, payload=b'{"id": %d, "late": "text", "new": null}')
    shown = cli(line, status=0)
    assert read_table(shown.out) == [{"ids": "55", "late": "5", "bad": "2"}]
    assert shown.err == ""  # nothing is wrong


def test_fields_that_appear_later_become_columns(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    """In every format, also within objects and arrays, and although others have something else in
    the place of an object; what was exported before has null there."""
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    payloads = (
        b'{"id": 1, "who": {"name": "a"}, "items": [{"n": 1}]}',
        b'{"id": 2, "who": {"name": "b", "city": "c"}, "items": [{"n": 2, "price": 0.5}], "new": true}',
    )
    output = "jsctl: ORDERS has new columns or fields: items.price, who.city, new"
    no_object = b'{"id": 3, "who": "x"}'
    for payload in payloads:
        js.publish(url, "ORDERS.a", payload)
        if payload is payloads[1]:
            js.publish(url, "ORDERS.a", no_object)
        for format in ("parquet", "csv"):
            line = (
                f"export stream ORDERS --to {tmp_path}/{format} --format {format} --decode json --incremental"
            )
            shown = cli(f"{line} --partition-by date --verify", status=0)
            assert (output in shown.err) == (payload is payloads[1])
    sql = "SELECT id, new, who.city, items.price AS prices, bad_payload AS bad FROM ORDERS ORDER BY sequence"
    rows = cli(["export", "query", "--from", f"{tmp_path}/parquet", sql, "--json"], status=0).json
    assert rows == [
        {"id": 1, "new": None, "city": None, "prices": [None], "bad": None},
        {"id": 2, "new": True, "city": "c", "prices": [0.5], "bad": None},
        {"id": None, "new": None, "city": None, "prices": None, "bad": no_object.decode()},
    ]
    sql = "SELECT id, new, who, items, bad_payload_base64 AS bad FROM ORDERS ORDER BY sequence"
    rows = cli(["export", "query", "--from", f"{tmp_path}/csv", sql, "--json"], status=0).json
    good = [(row["id"], row["new"], row["bad"]) for row in rows[:2]]
    assert good == [(1, None, None), (2, True, None)]
    assert [json.loads(row["who"]) for row in rows[:2]] == [{"name": "a"}, {"name": "b", "city": "c"}]


@pytest.mark.parametrize(
    ("decode", "good", "bad"), sample([("text", b"\xc3\xa4", b"\xff"), ("base64", b"AAE=", b"*")], 2)
)
def test_text_and_base64(
    cli: Cli, url: str, spark: Any, tmp_path: Path, decode: str, good: bytes, bad: bytes
) -> None:
    fill(url, 1, payload=good)
    fill(url, 1, payload=bad)
    line = f"export stream ORDERS --to {tmp_path}/out --decode {decode} --verify --json"
    assert cli(line, status=0).json["bad"] == 1
    rows = sorted(pq.read_table(tmp_path / "out" / "ORDERS").to_pylist(), key=lambda row: row["sequence"])
    expected = "ä" if decode == "text" else b"\x00\x01"
    assert [(row["data"], row["bad_payload"]) for row in rows] == [(expected, None), (None, bad)]


@pytest.mark.parametrize("kinds", sample(["missing foreign", "changed twice"], 2))
def test_verify_sees_changes(cli: Cli, url: str, spark: Any, tmp_path: Path, kinds: str) -> None:
    fill(url, 20)
    to = tmp_path / "out"
    line = f"export stream ORDERS --to {to} --incremental --verify --json"
    cli(line, status=0)
    (file,) = (to / "ORDERS").glob("*.parquet")
    table = pq.read_table(file)
    rows = table.to_pylist()
    changes: dict[str, list[dict[str, Any]]] = {
        "changed": [{**rows[0], "data": b"other"}, *rows[1:]],
        "missing": rows[1:],
        "twice": [*rows, rows[3], rows[3]],
        "foreign": [*rows, {**rows[0], "sequence": 999}],
    }
    for what in kinds.split():
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
        pq.write_table(type(table).from_pylist(changes[what], schema=table.schema), file)
        verified = cli(line, status=1).json["streams"][0]["verified"]
        wrong = {word: verified[word] for word in changes if verified[word]}
        assert wrong == {what: 2 if what == "twice" else 1}
        assert verified["same"] is False
    kind = f"{2 if what == 'twice' else 1} {what}"
    assert f"ORDERS differs from the stream: {kind}" in cli(line.replace(" --json", ""), status=1).out


def test_several_domains(hub_cli: Cli, hub_leaf: HubLeaf, spark: Any, tmp_path: Path) -> None:
    url = hub_leaf.hub.url_for("acc")
    for domain in ("hub", "leaf"):
        js.stream(url, "BOTH", f"{domain}.>", domain=domain, allow_direct=True)
        js.publish(url, f"{domain}.a", domain.encode(), 3)
        js.wait_until_stored(url, "BOTH", 3, domain=domain)
    line = f"export stream BOTH --to {tmp_path}/out --js-domain hub --js-domain leaf --json"
    done = hub_cli(line, status=0).json
    assert [(row["table"], row["exported"]) for row in done["streams"]] == [("hub_BOTH", 3), ("leaf_BOTH", 3)]
    assert set(pq.read_table(tmp_path / "out" / "leaf_BOTH")["data"].to_pylist()) == {b"leaf"}


def test_wrong_command_lines(cli: Cli, url: str, tmp_path: Path) -> None:
    fill(url, 3)
    to = tmp_path / "out"
    for flags, status, words in (
        ("NOPE", 3, "stream NOPE not found"),
        ("ORDERS --decode xml", 64, "not one of json, variant, avro, protobuf, text, base64"),
        ("ORDERS --partition-by month", 64, "not date, hour, subject:N or field:NAME"),
        ("ORDERS --from-seq 3 --since 1h", 64, "cannot be used together"),
        ("ORDERS --from-seq 50", 64, "is beyond ORDERS, whose last message is 3"),
        ("ORDERS --since soon", 64, "is not a time"),
        ("ORDERS --schema 'id INT'", 64, "is for --decode json"),
        (
            "ORDERS --incremental --format delta",
            64,
            "--follow and --backfill cannot add to a table in delta",
        ),
        ("ORDERS --subject 'a..b'", 64, "is not a valid subject filter"),
        ("ORDERS --follow --to-seq 9", 64, "has no end"),
        ("ORDERS --strem X", 64, "--strem"),
        (
            "ORDERS --fail-on-deleted --subject ORDERS.1.x",
            64,
            "--fail-on-deleted and --subject cannot be used together",
        ),
        ("ORDERS --format text", 64, "--format text cannot store messages: it has one column"),
        ("ORDERS --format a/b", 64, "--format 'a/b' is not a valid format"),
    ):
        failed = cli(f"export stream {flags} --to {to}", status=status)
        assert words in failed.err and failed.err.count("\n") == 1, failed.err
        assert not to.exists()


@pytest.mark.parametrize(
    ("format", "words"),
    [
        ("nonesuch", "does not have the format nonesuch; parquet, json, csv and orc are always available"),
        (
            "avro",
            "does not have the format avro; --packages org.apache.spark:spark-avro_2.13:",
        ),
        ("Delta", "does not have the format delta; add --packages auto"),
    ],
)
def test_a_format_that_is_not_installed_is_one_line(
    cli: Cli, url: str, spark: Any, tmp_path: Path, format: str, words: str
) -> None:
    fill(url, 3)
    failed = cli(f"export stream ORDERS --to {tmp_path}/out --format {format} --decode json", status=64)
    assert words in failed.err and failed.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_no_server_is_said_before_spark_starts(offline_cli: Cli, tmp_path: Path) -> None:
    began = time.monotonic()
    failed = offline_cli(f"export stream ORDERS --to {tmp_path}/out --server nats://127.0.0.1:1", status=4)
    assert "cannot connect to nats://127.0.0.1:1" in failed.err
    assert time.monotonic() - began < 5
