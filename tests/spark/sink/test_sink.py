"""`df.write.format("jetstream")` and `writeStream`, in a real Spark against real servers."""

import json
import re
import shutil
import threading
import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, Denied
from jsctl.nats.headers import parse_headers
from jsctl.spark.sink import publishing
from jsctl.spark.sink.continuous import check_messages
from jsctl.spark.sink.publishing import WriteJob
from jsctl.spark.sink.row import Row, list_batch_rows
from tests.support import js
from tests.support.servers import RealServer
from tests.support.waiting import wait_for

pytestmark = pytest.mark.spark

HEADERS = "headers array<struct<key:string,value:binary>>"


def write(frame: Any, url: str, **options: Any) -> None:
    frame.write.format("jetstream").mode("append").options(servers=url, **options).save()


def state(url: str, stream: str = "S") -> dict[str, Any]:
    state: dict[str, Any] = js.info(url, stream)["state"]
    return state


def read(spark: Any, url: str, stream: str = "S") -> Any:
    options = {"servers": url, "stream": stream, "includeHeaders": "true"}
    return spark.read.format("jetstream").options(**options).load()


def test_rows_are_messages(spark: Any, url: str) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    rows = [("S.a", b"\x00\xff", [("K", b"\xff1"), ("K", b"2")]), ("S.b", None, None)]
    write(spark.createDataFrame(rows, f"subject string, data binary, {HEADERS}").coalesce(1), url, stream="S")
    first, second = read(spark, url).orderBy("sequence").toArrow().to_pylist()
    assert (first["subject"], first["data"], second["subject"], second["data"]) == (
        "S.a",
        b"\x00\xff",
        "S.b",
        b"",
    )
    assert [(h["key"], h["value"]) for h in first["headers"]][:2] == [("K", b"\xff1"), ("K", b"2")]
    assert [h["key"] for h in second["headers"]] == ["Nats-Msg-Id", "Nats-Expected-Stream"]


def test_nothing_reaches_another_stream(spark: Any, url: str, tmp_path: Path) -> None:
    """Not one message of a burst: the server refuses each."""
    js.stream(url, "S", "S.>", allow_direct=True)
    js.stream(url, "OTHER", "OTHER.>")
    rows = spark.range(12_000).selectExpr("'OTHER.x' AS subject", "string(id) AS data").repartition(3)
    words = "stream OTHER stores these messages, not S; use subjects that S stores"
    with pytest.raises(Exception, match=words):
        write(rows, url, stream="S")
    js.publish(url, "S.a", b"x", 3000)
    source = spark.readStream.format("jetstream").options(servers=url, stream="S", startingOffsets="earliest")
    query = (
        source.load()
        .selectExpr("'OTHER.x' AS subject", "data")
        .writeStream.format("jetstream")
        .options(servers=url, stream="S", checkpointLocation=str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    with pytest.raises(Exception, match=words):
        query.awaitTermination(100)
    assert state(url, "OTHER")["last_seq"] == 0
    assert state(url)["messages"] == 3000


def test_the_option_stream_goes_before_what_a_row_says() -> None:
    """Its headers may come from a stream that the sink wrote."""
    row = Row("S.x", b"", [{"key": "nats-expected-stream", "value": b"OLD"}])

    def headers(stream: str) -> dict[str, str]:
        ((message,),) = publishing.build_message_bursts(WriteJob(Settings(), stream), 0, [row])
        pairs = [(key, value) for key, value in parse_headers(message.header_block) if key != "Nats-Msg-Id"]
        assert len(pairs) == 1
        return dict(pairs)

    assert headers("S") == {"Nats-Expected-Stream": "S"}
    assert headers("") == {"nats-expected-stream": "OLD"}


def test_without_the_option_the_stream_of_the_subject_is_expected(url: str) -> None:
    """Found out once a stream, and kept while rows are written, also for subjects that come later."""
    js.stream(url, "S", "S.>")
    job = WriteJob(Settings(url=url), write_id="w")

    def take_over() -> None:
        js.ask(url, "STREAM.UPDATE.S", {**js.info(url, "S")["config"], "subjects": ["T.>"]})
        js.stream(url, "OTHER", "S.>")

    def rows() -> Iterator[Row]:
        for number in range(publishing.BURST):
            yield Row(f"S.{number}", b"x")
        other = threading.Thread(target=take_over)  # as rows are read in the writer's loop
        other.start()
        other.join()
        yield Row("S.next", b"x")

    with pytest.raises(BadInput, match="another stream stores these messages than when the write began"):
        publishing.publish(job, 0, rows())
    assert state(url)["messages"] == publishing.BURST and state(url, "OTHER")["messages"] == 0
    message = js.ask(url, "STREAM.MSG.GET.S", {"seq": 7})["message"]
    assert b"Nats-Expected-Stream: S\r\n" in b64decode(message["hdrs"])


def test_equal_rows_are_all_kept_and_a_repeated_write_adds_nothing(spark: Any, url: str) -> None:
    js.stream(url, "S", "S.>")
    rows = spark.range(6000).selectExpr("'same' AS data").repartition(3)
    write(rows, url, subject="S.x", writeId="one")
    assert state(url)["messages"] == 6000
    write(rows, url, subject="S.x", writeId="one")
    assert state(url)["messages"] == 6000
    write(rows, url, subject="S.x")
    assert state(url)["messages"] == 12000


def test_ids_do_not_depend_on_the_order(url: str) -> None:
    import pyarrow as pa

    job = WriteJob(Settings(url=url), subject="S.x", write_id="w")

    def ids(partition: int, data: list[bytes]) -> list[str]:
        (burst,) = publishing.build_message_bursts(
            job, partition, list_batch_rows([pa.record_batch({"data": data})])
        )
        return [dict(parse_headers(message.header_block))["Nats-Msg-Id"] for message in burst]

    assert sorted(ids(0, [b"a", b"b", b"a"])) == sorted(ids(0, [b"b", b"a", b"a"]))
    assert len({*ids(0, [b"a", b"a"]), *ids(1, [b"a", b"a"])}) == 4


def message_ids(partition: int, rows: list[Row]) -> list[str]:
    """The ids that a task gives its rows."""
    job = WriteJob(Settings(), subject="S.x", write_id="w")
    (burst,) = publishing.build_message_bursts(job, partition, rows)
    return [dict(parse_headers(message.header_block))["Nats-Msg-Id"] for message in burst]


def test_ids_of_copies_do_not_depend_on_the_split() -> None:
    rows = [Row("S.x", b"same", stream="O", sequence=number) for number in (1, 2, 2)]
    ids = message_ids(0, rows)
    assert len(set(ids)) == 3  # two rows of one message are two messages
    assert sorted(message_ids(1, rows[1:]) + message_ids(7, rows[:1])) == sorted(ids)
    assert message_ids(0, [Row("S.x", b"same")]) != message_ids(1, [Row("S.x", b"same")])


@pytest.mark.parametrize("headers", [[None], [{"key": None, "value": b"x"}]])
def test_null_headers_are_one_sentence(headers: list[Any]) -> None:
    rows = [Row("S.x", b"", each) for each in ([{"key": "K", "value": None}], headers)]
    with pytest.raises(BadInput, match=r"null, or whose key is; leave it out: filter\(headers, h -> h.key"):
        list(publishing.build_message_bursts(WriteJob(Settings()), 0, rows))


def test_copies_with_their_headers_are_all_stored_once(spark: Any, url: str) -> None:
    """Whatever the partitions, the ids of the originals, and what these were to make the server do."""
    js.stream(url, "S", "S.>", allow_direct=True, duplicate_window=100_000_000, allow_rollup_hdrs=True)
    js.stream(url, "T", "T.>", allow_direct=True, allow_rollup_hdrs=True)
    for number in range(3):
        js.publish_framed(url, "S.a", b"NATS/1.0\r\nNats-Msg-Id: same\r\nK: v\r\n\r\n", b"%d" % number)
        wait_for(lambda: state(url)["messages"] == number + 1, "not stored")  # noqa: B023
        time.sleep(0.15)  # the time after which the server forgets an id has no event to wait for
    js.publish_framed(url, "S.b", b"NATS/1.0\r\nNats-Rollup: sub\r\n\r\n", b"last")
    wait_for(lambda: state(url)["last_seq"] == 4, "not stored")
    js.publish(url, "S.c", b"x", 20)
    copies = read(spark, url).selectExpr("'T.x' AS subject", "data", "headers", "stream", "sequence")
    for partitions in (1, 3):
        write(copies.repartition(partitions), url, stream="T", writeId="copy")
        assert state(url, "T")["messages"] == state(url)["messages"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"duplicate_window": 1_000_000_000}, "the duplicate window of S is only 1s"),
        ({"duplicate_window": 120_000_000_000}, ""),
    ],
)
def test_a_duplicate_window_that_is_too_short_is_reported(url: str, config: Any, words: str) -> None:
    js.stream(url, "S", "S.>", **config)
    settings = Settings(url=url, timeout=10_000_000_000)
    for job in (WriteJob(settings, "S"), WriteJob(settings, subject="S.x")):
        warnings = publishing.check_stream(job)
        assert bool(words) == bool(warnings) and words in "".join(warnings)


RIGHTS = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
authorization { users: [
  {user: admin, password: admin},
  {user: writer, password: writer, permissions: {
    publish: ["S.x", "$JS.API.STREAM.INFO.S"], subscribe: ["_INBOX.>"]}},
  {user: some, password: some, permissions: {publish: {deny: ["S.no.*"]}}},
  {user: asking, password: asking, permissions: {publish: ["S.x", "$SYS.REQ.USER.INFO", "$JS.API.>"]}},
  {user: mute, password: mute, permissions: {publish: ["nothing"], subscribe: ["_INBOX.>"]}}
] }
"""


def test_the_rights_that_writing_needs(tmp_path: Path) -> None:
    """Those of the manual are enough; what is missing is named, at once."""
    server = RealServer(tmp_path, RIGHTS).start()
    try:
        js.stream(server.url_for("admin"), "S", "S.>")
        rows = [Row("S.x", b"1")]
        writer = WriteJob(Settings(url=server.url_for("writer")), "S", write_id="w")
        assert publishing.check_stream(writer) == []
        assert publishing.publish(writer, 0, rows).published == 1
        with pytest.raises(Denied, match=r"S\.other"):
            publishing.publish(writer, 0, [Row("S.other", b"1")])
        for user, subject in (("some", "S.no.x"), ("asking", "S.other")):
            job = WriteJob(Settings(url=server.url_for(user)), "S", write_id="w")
            assert publishing.check_stream(job, "S.x") == publishing.check_stream(job) == []
            with pytest.raises(Denied, match=f"not allowed to publish to {subject}"):
                publishing.check_stream(job, subject)
        assert publishing.check_stream(writer, "S.x") == []  # it may not ask
        mute = WriteJob(Settings(url=server.url_for("mute")), "S", write_id="w")
        with pytest.raises(Denied, match=r"\$JS\.API\.STREAM\.INFO\.S"):
            publishing.check_stream(mute)
        with pytest.raises(Denied, match=r"S\.x"):
            publishing.publish(mute, 0, rows)
    finally:
        server.stop()


def test_ids_of_ones_own(spark: Any, url: str) -> None:
    js.stream(url, "S", "S.>")
    rows = [("S.a", "1", "id1"), ("S.a", "2", "id1"), ("S.a", "3", "id2")]
    write(spark.createDataFrame(rows, "subject string, data string, msg_id string").coalesce(1), url)
    assert state(url)["messages"] == 2


@pytest.mark.parametrize(
    ("expression", "options", "words"),
    [
        ("'S.x' AS subject; 1 AS data", {}, "column data is int"),
        ("'S.x' AS subject", {}, "there is no column data"),
        ("'x' AS data", {}, "there is no column subject"),
        ("'S.x' AS subject; 'x' AS data; 1 AS price", {}, "column price is not one of"),
        ("'S.x' AS subject; 'x' AS data; 'h' AS headers", {}, "column headers is string"),
        ("'S.x' AS subject; 'x' AS data", {"stream": "NONE"}, "there is no stream NONE"),
        ("'S.x' AS subject; 'x' AS data", {"strem": "S"}, "did you mean stream"),
        ("'nobody' AS subject; 'x' AS data", {}, "no stream stores nobody"),
        ("'S.*' AS subject; 'x' AS data", {}, "contains a wildcard"),
        ("'S.x' AS subject; 'x' AS data", {"stream": "OTHER"}, "stream S stores these messages"),
        ("'S.x' AS subject; repeat('x', 2000) AS data", {}, "message size exceeds maximum"),
    ],
)
def test_what_cannot_be_written_fails(
    spark: Any, url: str, expression: str, options: dict[str, str], words: str
) -> None:
    js.stream(url, "S", "S.>", max_msg_size=1000)
    js.stream(url, "OTHER", "OTHER.>")
    rows = spark.range(1).selectExpr(*expression.split("; "))
    with pytest.raises(Exception, match=re.escape(words)) as raised:
        write(rows, url, **options)
    assert "/sink/" not in str(raised.value)  # no traceback


def test_overwrite_is_refused(spark: Any, url: str) -> None:
    with pytest.raises(Exception, match="a stream cannot be overwritten"):
        spark.range(1).selectExpr("'a' AS data").write.format("jetstream").mode("overwrite").options(
            servers=url, subject="S.x"
        ).save()


def test_a_continuous_trigger_is_refused(spark: Any, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "S.>")
    rows = spark.readStream.format("rate").load().selectExpr("'S.x' AS subject", "string(value) AS data")
    writer = rows.writeStream.format("jetstream").trigger(continuous="1 second")
    query = writer.options(servers=url, checkpointLocation=str(tmp_path / "checkpoint")).start()
    with pytest.raises(Exception, match=r"Spark passes no rows to this sink with trigger\(continuous=...\)"):
        query.awaitTermination(100)


def test_what_no_task_has_written_is_not_committed() -> None:
    with pytest.raises(BadInput, match="Spark passes no rows"):
        check_messages([None])
    check_messages([])


@pytest.mark.timeout(300)
def test_a_stream_of_streams_once_each_although_batches_are_repeated(
    spark: Any, url: str, tmp_path: Path
) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    js.stream(url, "T", "T.>")
    js.publish_all(url, ((f"S.{n % 3}", b"same") for n in range(300)))

    def run() -> None:
        source = spark.readStream.format("jetstream").options(
            servers=url, stream="S", startingOffsets="earliest", maxOffsetsPerTrigger="200", minPartitions="2"
        )
        rows = source.load().selectExpr("'T.x' AS subject", "data")
        query = (
            rows.writeStream.format("jetstream")
            .options(servers=url, stream="T", checkpointLocation=str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination(100)

    run()
    assert state(url, "T")["messages"] == 300
    # As after a kill between the last acks and the commit: Spark does the last batch again.
    commits = tmp_path / "checkpoint" / "commits"
    last = max(int(file.name) for file in commits.iterdir() if file.name.isdigit())
    (commits / str(last)).unlink()
    shutil.rmtree(tmp_path / "checkpoint" / "state", ignore_errors=True)
    for crc in commits.glob(f".{last}.crc"):
        crc.unlink()
    js.publish(url, "S.1", b"same", 7)
    wait_for(lambda: state(url, "S")["messages"] == 307, "the messages are not stored")
    run()
    assert state(url, "T")["messages"] == 307


@pytest.mark.long
def test_a_server_that_is_killed_meanwhile(tmp_path: Path) -> None:
    """Without Spark: what has no ack is sent again on a new connection, and nothing is stored twice."""
    import pyarrow as pa

    server = RealServer(tmp_path, 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }').start()
    try:
        js.stream(server.url, "S", "S.>")
        batches = (
            pa.record_batch({"data": [json.dumps(n) for n in range(start, start + 2000)]})
            for start in range(0, 60_000, 2000)
        )

        def trouble() -> None:
            wait_for(lambda: state(server.url, "S")["messages"] > 5000, "nothing is stored")
            server.kill()
            server.start()

        thread = threading.Thread(target=trouble)
        thread.start()
        counts = publishing.publish(
            WriteJob(Settings(url=server.url), "S", "S.x", "w"), 0, list_batch_rows(batches)
        )
        thread.join()
        assert (counts.published, counts.duplicates) == (60_000, 0)
        assert state(server.url)["messages"] == 60_000
    finally:
        server.stop()
