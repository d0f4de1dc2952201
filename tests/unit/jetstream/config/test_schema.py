"""One description of a key is enough for flags, files, validation, differences and info pages."""

import json
from collections.abc import Mapping
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.units import DAY, HOUR, SECOND
from jsctl.commands.editing.field_flags import config_flags
from jsctl.errors import BadInput
from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.config.documents import parse_document, parse_documents
from jsctl.jetstream.config.field import Field
from jsctl.jetstream.config.kind import Kind, Text
from jsctl.jetstream.config.kinds import Choice, ListOf, Map, Subject, Subjects, Switch, Texts, Time
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.numbers import Duration, Limit, Number, Size
from jsctl.jetstream.config.schema import Object, Schema
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.stream.config import STREAM
from jsctl.views.shared.config import config_lines, format_change


class BucketSchema(Schema):
    written = ("history",)


BUCKET = BucketSchema(
    "bucket",
    (
        Field("name", Text()),
        Field("history", Number(least=1), flag="history", help="Values of a key", label="History", default=1),
        Field(
            "ttl", Duration(forever=True), flag="ttl", help="Age of a value", label="Maximum Age", default=0
        ),
        Field(
            "max_value", Size(), flag="max-value", help="Size of a value", label="Maximum Value", default=-1
        ),
        Field(
            "storage",
            Choice({"file": "file", "f": "file", "memory": "memory"}, {"file": "File"}),
            flag="storage",
            help="Storage backend",
            label="Storage",
            create_only=True,
        ),
        Field("placement.tags", Texts(), flag="tag", help="Tags of servers", label="Tags", level=3),
        Field("compress", Switch(inverse_label=True), flag="compress", help="Compress", label="Plain"),
        Field("metadata", Map(), flag="metadata", help="KEY=VALUE"),
    ),
)


def values_of(verb: str, *args: str) -> Mapping[str, Any] | str:
    """What the flags of a verb give, or the error."""

    @click.command("bucket")
    @config_flags(BUCKET, verb)
    def bucket(fields: Mapping[str, Any]) -> None:
        click.echo(json.dumps(fields))

    outcome = CliRunner().invoke(bucket, args)
    if outcome.exit_code:
        return outcome.output
    values: Mapping[str, Any] = json.loads(outcome.output)
    return values


def test_fields_become_flags() -> None:
    assert values_of("add", "--ttl", "1d", "--max-value", "1KiB", "--tag", "a,b", "--no-compress") == {
        "ttl": DAY,
        "max_value": 1024,
        "tag": ["a,b"],
        "compress": False,
    }
    assert "'soon' is not a duration" in str(values_of("add", "--ttl", "soon"))
    assert "0 is less than 1" in str(values_of("add", "--history", "0"))
    assert values_of("add", "--storage", "F") == {"storage": "f"}
    assert "No such option" in str(values_of("edit", "--storage", "file"))


def test_flags_are_applied() -> None:
    before = {"placement": {"cluster": "c"}, "metadata": {"a": "b"}, "newer": [1]}
    after = BUCKET.apply_flags(
        before, {"tag": ["a,b", "c"], "metadata": ["k=v", "l:w"], "storage": "F", "ttl": HOUR}
    )
    assert after == {
        "placement": {"cluster": "c", "tags": ["a", "b", "c"]},
        "metadata": {"a": "b", "k": "v", "l": "w"},
        "newer": [1],
        "storage": "file",
        "ttl": HOUR,
    }
    with pytest.raises(BadInput, match="--metadata: 'x' is not KEY=VALUE"):
        BUCKET.apply_flags({}, {"metadata": ["x"]})


def test_files_are_read() -> None:
    text = "name: 7\nttl: 1d\nmax_value: -1\nstorage: F\nplacement: {tags: a}\nmetadata: {version: 1.10}\n"
    assert BUCKET.parse_config(text, "b.yaml") == {
        "name": "7",
        "ttl": DAY,
        "max_value": -1,
        "storage": "file",
        "placement": {"tags": ["a"]},
        "metadata": {"version": "1.10"},
    }


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("ttl: 1d\nhistroy: 2", "b:2: unknown key 'histroy' of a bucket; did you mean 'history'?"),
        ("ttl: 1d\nmax-value: 2", "b:2: unknown key 'max-value' of a bucket; it is max_value here"),
        ('{"placement":\n {"tag": []}}', "b:2: unknown key 'tag' of placement; it is tags here"),
        (
            "zone: 2",
            "b:1: unknown key 'zone' of a bucket; a key that is newer than jsctl goes below `extra:`",
        ),
        ('{"ttl": 1,\n\n "history": 0}', "b:3: history: 0 is less than 1"),
        ("history: true", "b:1: history must be a whole number, not true"),
        ("storage: disk", "b:1: storage must be one of file, memory, not 'disk'"),
        ("compress: 1", "b:1: compress must be true or false, not 1"),
        ("metadata: []", "b:1: metadata must be an object"),
        ("name: {a: b}", "b:1: name must be text"),
        ("ttl: [1]", "b:1: ttl must be a duration such as 30s, 2h or 1y6M, not [1]"),
    ],
)
def test_errors_name_the_line(text: str, error: str) -> None:
    with pytest.raises(BadInput) as raised:
        BUCKET.parse_config(text, "b")
    assert str(raised.value).startswith(error)


def test_what_a_server_wrote_may_be_newer() -> None:
    live = {"name": "B", "zone": "z", "placement": {"rack": 1}}
    document = json.dumps({"state": {}, "config": live})
    assert STREAM.parse_config(document, "f") == live
    with pytest.raises(BadInput, match="did you mean 'max_msgs'"):
        STREAM.parse_config('{"state": {}, "config": {"max_mesgs": 5}}', "f")
    assert BUCKET.parse_config(json.dumps(live), "f", live=live) == live
    with pytest.raises(BadInput, match="unknown key 'rock'"):
        BUCKET.parse_config('{"placement": {"rock": 1}}', "f", live=live)
    extra = {"name": "B", "extra": {"zone": "z", "placement": {"rack": 1}}}
    assert BUCKET.parse_config(json.dumps(extra), "f") == live


def test_values_are_validated() -> None:
    BUCKET.validate({"name": "B", "ttl": 5, "newer": object})
    with pytest.raises(BadInput) as raised:
        BUCKET.validate({"name": "B", "ttl": "5s", "placement": {"tags": [1]}, "storage": "disk"})
    assert str(raised.value) == (
        "ttl must be a whole number of ns, not '5s'; placement.tags must be a list of strings, not [1];"
        " storage must be one of file, memory, not 'disk'"
    )
    with pytest.raises(BadInput, match="not a valid bucket name"):
        BUCKET.validate({"name": "a.b"})


def test_differences_are_formatted() -> None:
    before, after = {"ttl": HOUR, "max_value": 0}, {"ttl": DAY, "max_value": -1, "placement": {"tags": ["a"]}}
    assert [format_change(change) for change in find_differences(before, after, BUCKET)] == [
        "ttl: 1h0m0s -> 1d0h0m0s",
        "placement.tags: (not set) -> a",
    ]


def test_lines_of_a_sheet() -> None:
    config = {
        "ttl": 0,
        "max_value": 5,
        "storage": "file",
        "placement": {"tags": ["a", "b"]},
        "compress": True,
    }
    keys = ("history", "ttl", "max_value", "storage", "placement.tags", "compress")
    assert [tuple(line) for line in config_lines(BUCKET, config, *keys)] == [
        ("History", 1, "count"),
        ("Maximum Age", 0, "span_limit"),
        ("Maximum Value", 5, "bytes_limit"),
        ("Storage", "File", "text"),
        ("Tags", "a, b", "text"),
        ("Plain", False, "bool"),
    ]


def test_levels_and_defaults() -> None:
    assert BUCKET.find_needed_levels({"placement": {"tags": ["a"]}}) == {3: ["--tag"]}
    assert BUCKET.find_needed_levels({"placement": {"tags": []}}) == {}
    assert BUCKET.with_defaults({"ttl": 1}) == {"history": 1, "ttl": 1}


VALUES: tuple[tuple[Kind, st.SearchStrategy[Any]], ...] = (
    (Text(), st.text("abc: {}'\"0#", max_size=5)),
    (Subject(), st.sampled_from(["a", "a.*", "a.>"])),
    (Subjects(), st.lists(st.sampled_from(["a", "a.*", "a.>"]))),
    (Texts(), st.lists(st.text("ab1 ", max_size=3))),
    (Number(), st.integers(0, 1 << 62)),
    (Number(least=None), st.integers(-1, 1 << 62)),
    (Limit(), st.integers(-1, 1 << 62)),
    (Size(), st.integers(-1, 1 << 62)),
    (Duration(), st.integers(0, (1 << 63) - 1)),
    (Switch(), st.booleans()),
    (Choice({"a": "x", "b": "y"}), st.sampled_from(["x", "y"])),
    (Map(), st.dictionaries(st.text("ab", max_size=3), st.text("ab1", max_size=3))),
    (Time(), st.sampled_from(["2026-11-21T06:57:05Z", "2026-11-21T06:57:05.000000001Z"])),
    (ListOf(Duration()), st.lists(st.integers(0, 1 << 62))),
    (Object((Field("a.b", Size()), Field("c", Text()))), st.just({"a": {"b": 1 << 20}, "c": "d"})),
)


@given(st.data())
def test_what_is_written_is_read_back(data: st.DataObject) -> None:
    kind, values = data.draw(st.sampled_from(VALUES))
    value = data.draw(values)
    assert list(kind.check_value(value, "key")) == []
    for text in (yaml.safe_dump({"key": kind.write(value)}), json.dumps({"key": value})):
        assert kind.read(parse_document(text, "f").value["key"], "key") == value


@pytest.mark.parametrize("schema", [STREAM, CONSUMER], ids=["stream", "consumer"])
def test_descriptions_are_whole(schema: Schema) -> None:
    for field in schema.fields:
        assert bool(field.flag) == bool(field.help), field
        assert field.default is None or field.kind.accepts(field.default), field
        for key in field.turns_on:
            assert isinstance(schema.by_key[key].kind, Switch), field
    for names in ([each.key for each in schema.fields], [each.flag for each in schema.fields if each.flag]):
        assert len(names) == len({*names}), "of two fields with one name, one has no effect"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_json_is_read_as_json(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps({"value": value}, indent=indent, ensure_ascii=ascii_only)
    assert parse_document(text, "f").to_json() == {"value": value}


def test_json_knows_its_lines() -> None:
    node = parse_document('{\n "a": 1,\n "b": [\n  2,\n  "x\\ny"]}', "f")
    assert [item.line for item in node.value["b"].value] == [4, 5]
    assert node.value["a"] == Node(1, "f", 2, "1")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"a": 1,\n "a": 2}', "f:2: 'a' is set twice"),
        ("[" * 50 + "]" * 50, "f:1: nested too deeply"),
        ('{"a": ]', "f:1: "),
        ("a: 1\n---\na: 2", "f:3: only one document is expected"),
        ("a: " + "9" * 5000, "f:1: "),
        ('{"a": ' + "9" * 5000 + "}", "f:1: "),
        ("7", "f holds no configuration"),
    ],
)
def test_documents_that_are_refused(text: str, error: str) -> None:
    with pytest.raises(BadInput) as raised:
        parse_document(text, "f")
    assert str(raised.value).startswith(error)


def test_several_documents() -> None:
    assert [node.to_json() for node in parse_documents("a: 1\n---\n---\nb: 2\n", "f")] == [{"a": 1}, {"b": 2}]
    assert Duration().parse("-1") == 0 and Duration().parse("1s") == SECOND
    with pytest.raises(ValueError, match="negative"):
        Duration().parse("-1h")
