"""Options of the data source, ranges, and header lines."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.nats.subjects import covers
from jsctl.spark.source import bucket_options
from jsctl.spark.source.admission import Sizes, limit_ends
from jsctl.spark.source.batch_reader import count_ranges, split_range
from jsctl.spark.source.columns import parse_headers
from jsctl.spark.source.options import OPTION_NAMES, parse_read_options
from jsctl.spark.source.plan import StreamState

BASE = {"servers": "nats://h:4222", "stream": "ORDERS"}


def test_defaults() -> None:
    options = parse_read_options(BASE)
    assert options.range[:2] == ("earliest", "latest")
    assert (options.batch, options.max_bytes, options.timeout) == (1000, 4 << 20, 10 * SECOND)
    assert options.fail_on_loss
    assert not options.fail_on_deleted
    assert options.fetch_mode == "auto"
    assert options.prefix == "$JS.API"
    assert parse_read_options(BASE, streaming=True).range.start == "latest"


def test_values() -> None:
    options = parse_read_options(
        {
            **BASE,
            "DOMAIN": "leaf.a",
            "subject": "a.>, b.*",
            "startingOffsets": "5",
            "endingOffsets": "10",
            "failOnDataLoss": "False",
            "requestTimeout": "3s",
            "maxBytes": "1MB",
            "user": "u",
            "password": "p",
        }
    )
    assert options.prefix == "$JS.leaf.a.API"
    assert options.subjects == ("a.>", "b.*")
    assert options.range[:2] == (5, 10)
    assert not options.fail_on_loss
    assert (options.timeout, options.max_bytes) == (3 * SECOND, 1 << 20)
    assert (options.settings.user, options.settings.password) == ("u", "p")
    assert parse_read_options({**BASE, "subject": ">"}).subjects == ()
    moment = parse_read_options({**BASE, "startingTimestamp": "2026-11-21T06:57:05Z"}).range.start_time
    assert moment is not None
    assert (
        parse_read_options({**BASE, "endingTimestamp": "1795244225000"}).range.end_time == moment
    )  # as Kafka's


def test_ranges_by_stream() -> None:
    several = {"servers": "nats://h:4222", "streams": "ORDERS,LOG_*"}
    offsets = '{"ORDERS": 23, "LOG_A": -5, "LOG_B": "earliest"}'
    options = parse_read_options({**several, "startingOffsets": offsets, "endingOffsets": '{"ORDERS": 40}'})
    found = {name: options.select_stream(name) for name in ("ORDERS", "LOG_A", "LOG_B", "LOG_C")}
    assert {name: each.range[:2] for name, each in found.items()} == {
        "ORDERS": (23, 40),
        "LOG_A": (-5, "latest"),
        "LOG_B": ("earliest", "latest"),
        "LOG_C": ("earliest", "latest"),
    }
    times = parse_read_options({**several, "startingTimestamp": '{"ORDERS": 1795244225000, "LOG_A": "-10m"}'})
    assert times.select_stream("ORDERS").range.start_time == datetime.fromtimestamp(1795244225, UTC)
    assert times.select_stream("LOG_A").range.start_time == timedelta(minutes=10)
    assert times.select_stream("LOG_B").range.start_time is None
    streaming = parse_read_options({**several, "startingOffsets": '{"ORDERS": "latest"}'}, streaming=True)
    assert streaming.select_stream("LOG_B").range.start == "latest"
    assert (
        parse_read_options({**BASE, "startingOffsets": '{"ORDERS": 3}'}).select_stream("ORDERS").range.start
        == 3
    )
    assert parse_read_options({**several, "streams": "ORDERS", "startingOffsets": "3"}).range.start == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"decode": "xml"}, "decode 'xml' is not one of json, variant"),
        ({"decompress": "rar"}, "decompress 'rar' is not one of"),
        ({"decode": "json"}, "decode json needs a schema; such as"),
        ({"decode": "avro"}, "decode avro needs a schema"),
        ({"decode": "json", "schema": "id"}, "the schema is not valid at its end"),
        ({"decode": "json", "schema": "id INT", "schemaFile": "x"}, "schema and schemaFile cannot be used"),
        ({"decode": "json", "schemaFile": "/none"}, "/none"),
        (
            {"decode": "json", "schema": "id INT", "registry": "true"},
            "registry is for decode avro or protobuf",
        ),
        ({"decode": "protobuf", "schema": "*"}, "is not base64"),
        ({"decode": "text", "keepData": "true"}, "keepData is for decode json or variant"),
        ({"decode": "variant", "includeData": "false"}, "includeData and decode cannot be used together"),
        ({"decode": "variant", "columns": "value,id"}, "there is no column id; use stream, subject"),
        ({"decode": "variant", "columns": "value", "keepData": "true"}, "columns and keepData cannot"),
        ({"schema": "id INT"}, "option schema needs the option decode"),
        (
            {"objects": "B", "stream": "", "decode": "text"},
            "decode is only for streams and key-value buckets",
        ),
        ({"bucket": "B", "stream": "", "decode": "json"}, "decode json needs a schema"),
    ],
)
def test_decoding_that_cannot_be(options: dict[str, str], words: str) -> None:
    with pytest.raises(JsctlError) as refused:
        parse_read_options({**BASE, **options})
    assert words in str(refused.value)


def test_columns_of_decoded_payloads() -> None:
    decoded = {**BASE, "decode": "json", "schema": "id INT, Stream STRING"}
    names = ("stream", "subject", "sequence", "timestamp", "id", "data_Stream", "bad_payload")
    assert parse_read_options(decoded).columns == names
    assert parse_read_options({**decoded, "keepData": "true"}).columns == (*names[:-1], "data", names[-1])
    assert parse_read_options({**decoded, "includeHeaders": "true"}).columns[4] == "headers"
    chosen = parse_read_options({**decoded, "columns": "data_stream,DATA,headers"})
    assert chosen.columns == ("headers", "data_Stream", "data") and chosen.headers


def test_secrets_are_not_in_its_text() -> None:
    options = {
        **BASE,
        "servers": "nats://u:SECRET1@h",
        "password": "SECRET2",
        "token": "SECRET3",
        "seed": "SECRET4",
    }
    assert "SECRET" not in repr(parse_read_options(options))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strem": "X"}, "unknown option 'strem'; did you mean stream?"),
        ({"path": "/x"}, "a stream has no path"),
        ({"stream": ""}, "option stream is missing"),
        ({"stream": "A.B"}, "is not a valid stream name"),
        ({"context": "x"}, "servers and context cannot be used together"),
        ({"servers": None}, "option servers or context is missing"),
        ({"domain": "a", "apiPrefix": "b"}, "domain and apiPrefix cannot be used together"),
        ({"startingOffsets": "1", "startingTimestamp": "2026-01-01T00:00:00Z"}, "cannot be used together"),
        ({"endingOffsets": "9", "endingTimestamp": "2026-01-01T00:00:00Z"}, "cannot be used together"),
        ({"startingOffsets": "0"}, "is not earliest, latest or a sequence"),
        ({"startingOffsets": "new"}, "is not earliest, latest or a sequence"),
        ({"startingTimestamp": "yesterday"}, "is not a time"),
        ({"startingTimestamp": "2026-01-01", "endingTimestamp": "2025-01-01"}, "must be before"),
        ({"subject": "a", "failOnDeleted": "true"}, "failOnDeleted and subject cannot be used together"),
        ({"maxOffsetsPerTrigger": "5"}, "is only for spark.readStream"),
        ({"fetchMode": "fast"}, "is not auto, direct or consumer"),
        ({"failOnDataLoss": "maybe"}, "neither true nor false"),
        ({"batchSize": "0"}, "is not a whole number; use a number, from 1 to 50000"),
        ({"minPartitions": "x"}, "is not a whole number; use a number, 1 or more"),
        ({"requestTimeout": "5"}, "requestTimeout: '5' is not a duration"),
        ({"maxBytes": "-1"}, "maxBytes must be more than 0"),
        ({"subject": "a..b"}, "is not a valid subject filter"),
        ({"subject": "a.>.b"}, "is not a valid subject filter"),
        ({"subject": "a.b*"}, "is not a valid subject filter"),
        ({"subject": "a.*.c,a.b.*"}, "overlap, which consumers do not allow"),
        ({"streams": "A,B"}, "options stream and streams cannot be used together"),
        ({"stream": "A*"}, "is not a valid stream name"),
        ({"stream": "", "streams": "A.B"}, "is neither a stream name nor a pattern"),
        ({"stream": "", "streams": "A,B", "startingOffsets": "5"}, "a sequence is valid in one stream only"),
        ({"columns": "a"}, "there is no column a"),
        ({"startingOffsets": "-0"}, "or -1000 for the last thousand"),
        ({"startingOffsets": "latest"}, "only for spark.readStream; use earliest"),
        ({"startingOffsets": '{"ORDERS": "latest"}'}, "only for spark.readStream"),
        ({"startingOffsets": '{"ORDERS": {"0": 23}}'}, "a stream has no partitions; use one value for each"),
        ({"startingOffsets": '{"ORDERS": true}'}, "startingOffsets of ORDERS is true"),
        ({"startingOffsets": '{"ORDERS": -2}'}, 'would be earliest in Kafka; write "earliest"'),
        ({"endingOffsets": '{"ORDERS": -1}'}, 'would be latest in Kafka; write "latest"'),
        ({"startingOffsets": '{"ORDERS": 0}'}, "'0' is not earliest, latest or a sequence"),
        ({"startingOffsets": '{"LOGS": 1}'}, "names stream LOGS, which this query does not read"),
        ({"startingOffsets": '{"ORDERS"'}, "startingOffsets is not valid JSON"),
        ({"startingTimestamp": '{"ORDERS": "soon"}'}, "'soon' is not a time"),
        (
            {"startingTimestamp": '{"ORDERS": "2026-01-01"}', "endingTimestamp": "2025-01-01"},
            "must be before",
        ),
        ({"subscribe": "A"}, "unknown option 'subscribe': the streams are named by 'streams'"),
        ({"subscribePattern": "A.*"}, "the streams are named by 'streams', with"),
        ({"topic": "A"}, "unknown option 'topic': messages are chosen and written by 'subject'"),
        ({"value": "A"}, "unknown option 'value': the payload is the column 'data'"),
        ({"kafka.bootstrap.servers": "h:9092"}, "the servers are named by 'servers'"),
        ({"kafka.sasl.mechanism": "PLAIN"}, "the login is that of 'context'"),
        ({"kafka.max.poll.records": "5"}, "settings of Kafka's client have no meaning here"),
        ({"columns": "key,value"}, "there is no column key: the subject takes the place of the key"),
    ],
)
def test_wrong_options_say_so(options: dict[str, str | None], words: str) -> None:
    result = {name: value for name, value in {**BASE, **options}.items() if value is not None}
    with pytest.raises(BadInput, match=words.replace("?", r"\?")):
        parse_read_options(result)


def test_tables_are_refused() -> None:
    for options in ({**BASE, "provider": "jetstream"}, {}):
        with pytest.raises(BadInput, match="CREATE OR REPLACE TEMPORARY VIEW"):
            parse_read_options(options)


def test_admission() -> None:
    value = {**BASE, "maxBytesPerTrigger": "1MB", "minOffsetsPerTrigger": "5", "maxTriggerDelay": "1m"}
    options = parse_read_options(value, streaming=True)
    assert (options.max_trigger_bytes, options.min_offsets, options.max_delay) == (1 << 20, 5, 60 * SECOND)
    for wrong, words in (
        ({"maxTriggerDelay": "1m"}, "maxTriggerDelay needs minOffsetsPerTrigger"),
        ({"minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "5"}, "is more than maxOffsetsPerTrigger 5"),
        ({"committedConsumer": "a.b"}, "is not the name of a consumer"),
    ):
        with pytest.raises(BadInput, match=words):
            parse_read_options({**BASE, **wrong}, streaming=True)


def test_filters_that_others_cover_are_left_out() -> None:
    assert parse_read_options({**BASE, "subject": "a.b,a.>,c.*,c.d,a.*.c"}).subjects == ("a.>", "c.*")
    assert covers("a.*", "a.b") and covers("a.*", "a.*") and covers("a.>", "a.>")
    assert not covers("a.*", "a.>") and not covers("a.*", "a") and not covers("a.b", "a.*")


def test_columns() -> None:
    assert parse_read_options({**BASE, "columns": "data,subject"}).columns == ("subject", "data")
    assert "data" not in parse_read_options({**BASE, "includeData": "false"}).columns
    assert parse_read_options({**BASE, "includeHeaders": "true"}).headers


def test_sizes_of_what_came_go_before_the_average() -> None:
    sizes = Sizes()
    state = StreamState("now", 1, 101, 0, True, 100, 1000)
    sizes.record_state(state)
    assert sizes.fit(1, 101, 100) == 11
    assert sizes.fit(1, 101, 1) == 2  # one at least
    sizes.record_state(state._replace(end=111, messages=110, bytes=11_000))  # ten of a thousand bytes
    assert (sizes.estimate(1, 101), sizes.estimate(101, 111)) == (1000, 10_000)
    assert sizes.fit(91, 111, 3100) == 104
    ends = limit_ends({"A": (1, 101), "B": (1, 11)}, {"A": sizes, "B": sizes}, 11, 0)
    assert ends == {"A": 11, "B": 2}


def test_a_stream_has_no_end() -> None:
    with pytest.raises(BadInput, match=r"are only for spark\.read"):
        parse_read_options({**BASE, "endingOffsets": "10"}, streaming=True)


def test_an_option_overrides_what_the_context_has(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    (tmp_path / "nats" / "context").mkdir(parents=True)
    (tmp_path / "nats" / "context" / "hub.json").write_text('{"url": "nats://x", "jetstream_domain": "hub"}')
    options = parse_read_options({"context": "hub", "stream": "S"}, environ)
    assert (options.settings.url, options.prefix) == ("nats://x", "$JS.hub.API")
    assert (
        parse_read_options({"context": "hub", "stream": "S", "domain": "leaf"}, environ).prefix
        == "$JS.leaf.API"
    )
    with pytest.raises(NotFound):
        parse_read_options({"context": "nope", "stream": "S"}, environ)


def test_every_option_is_taken() -> None:
    for name in OPTION_NAMES:
        try:
            parse_read_options({**BASE, name: "?"})
        except (BadInput, NotFound) as error:
            assert "unknown option" not in str(error)


@given(st.integers(1, 1 << 50), st.integers(0, 1 << 30), st.integers(1, 50))
def test_ranges_cover_all_once(start: int, total: int, count: int) -> None:
    result = split_range(start, start + total, count)
    assert [a for a, _ in result[1:]] == [b for _, b in result[:-1]]
    assert sum(b - a for a, b in result) == total
    assert all(b > a for a, b in result)
    assert len(result) == min(count, total)
    if result:
        assert (result[0][0], result[-1][1]) == (start, start + total)
        assert max(b - a for a, b in result) - min(b - a for a, b in result) <= 1


def test_how_many_ranges() -> None:
    assert count_ranges(0, 0, 4) == 1
    assert count_ranges(5_000, 0, 4) == 1
    assert count_ranges(25_000, 0, 4) == 2
    assert count_ranges(10_000_000, 0, 4) == 4
    assert count_ranges(10_000_000, 16, 4) == 16


def test_headers_keep_order_duplicates_and_bytes() -> None:
    raw = b"NATS/1.0\r\nA: 1\r\nB:2\r\nA:  \xff \r\nno colon\r\nC:a:b\r\n"
    assert parse_headers(raw) == [("A", b"1"), ("B", b"2"), ("A", b"\xff"), ("C", b"a:b")]
    assert parse_headers(None) is None
    assert parse_headers(b"NATS/1.0\r\n") is None


def test_buckets() -> None:
    connection = {"servers": BASE["servers"]}
    kv = parse_read_options({**connection, "bucket": "B", "keys": "a.*, b"})
    assert (kv.stream, kv.subjects, kv.latest) == ("KV_B", ("$KV.B.a.*", "$KV.B.b"), True)
    assert (kv.columns, kv.fail_on_loss) == (bucket_options.KV_COLUMNS, False)
    changes = parse_read_options({**connection, "bucket": "B"}, streaming=True)
    assert (changes.subjects, changes.latest) == (("$KV.B.>",), False)
    objects = parse_read_options({**connection, "objects": "B", "history": "all"})
    assert (objects.stream, objects.subjects, objects.latest) == ("OBJ_B", ("$O.B.M.>",), False)
    assert objects.columns == bucket_options.OBJECT_COLUMNS
    for wrong, words in (
        ({"bucket": "B", "objects": "B"}, "cannot be used together"),
        ({"bucket": "B.C"}, "is not a valid bucket name"),
        ({"bucket": "B", "stream": "S"}, "option stream is for streams"),
        ({"bucket": "B", "history": "some"}, "neither latest nor all"),
        ({"stream": "S", "keys": "a"}, "option keys is only for buckets"),
    ):
        with pytest.raises(BadInput, match=words):
            parse_read_options({**connection, **wrong})
    with pytest.raises(BadInput, match=r"is only for spark\.read"):
        parse_read_options({**connection, "bucket": "B", "history": "latest"}, streaming=True)


def test_what_connect_set_and_what_options_set_beside_it(tmp_path: Path) -> None:
    """Another domain is of the same connection; another context or server is another connection."""
    (tmp_path / "nats" / "context").mkdir(parents=True)
    (tmp_path / "nats" / "context" / "leaf.json").write_text('{"url": "nats://leaf", "token": "t"}')
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    preset = Settings(url="nats://hub", user="u", password="p", js_domain="hub", context="hub")

    def resolve(**options: str) -> Settings:
        found = parse_read_options({"stream": "S", **options}, environ, settings=preset).settings
        assert not found.password or found.url == "nats://hub", "a login went to another server"
        return found

    assert resolve() == preset
    assert resolve(domain="leaf") == preset._replace(js_domain="leaf")
    assert resolve(domain="") == preset._replace(js_domain="")
    assert resolve(apiPrefix="X.API") == preset._replace(js_domain="", js_api_prefix="X.API")
    other = resolve(context="leaf", domain="d")
    assert (other.url, other.user, other.token, other.js_domain) == ("nats://leaf", "", "t", "d")
    assert resolve(servers="nats://third").url == "nats://third"
    for options, words in (
        ({"token": "x"}, "option token is already set by connect"),
        ({"domain": "a b"}, "'a b' is not a valid subject prefix"),
        ({"domain": "a", "apiPrefix": "b"}, "options domain and apiPrefix cannot be used together"),
        ({"context": "leaf", "servers": "x"}, "options servers and context cannot be used together"),
    ):
        with pytest.raises(BadInput, match=words):
            resolve(**options)
