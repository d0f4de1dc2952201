"""Schemas of what verbs write: made from `outputs.txt`, which is what tests have seen."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jsctl.schema import outputs
from jsctl.schema.catalog import list_names, load_schema
from jsctl.schema.outputs import Output, describe, load_outputs, parse
from jsctl.schema.validator import validate
from tests.contract.test_commands import VERBS, resolve
from tests.support import verb_shapes
from tests.support.verb_shapes import merge_kinds, merge_members

KEYS = st.sampled_from(["name", "state", "config", "a_b", "metadata", "x"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
).filter(lambda document: document is not None)


def find_output(*documents: Any) -> Output:
    seen = [verb_shapes.find_output("0", json.dumps(document), "a verb") for document in documents]
    paths = {path for one in seen for path in one.keys}
    keys = {path: merge_members(*(one.keys[path] for one in seen if path in one.keys)) for path in paths}
    return Output("0", merge_kinds(*(one.kind for one in seen)), keys)


@given(DOCUMENTS, DOCUMENTS)
def test_what_was_seen_is_valid(one: Any, other: Any) -> None:
    output = find_output(one, other)
    schema = describe(output)
    assert validate(one, schema) == [] and validate(other, schema) == []
    assert parse(output.format("a verb"))["a verb"].kind == output.kind
    assert describe(parse(output.format("a verb"))["a verb"]) == schema


def test_values_of_a_difference_may_be_anything() -> None:
    for verb in ("apply", "diff", "stream_edit", "consumer_edit", "kv_edit", "object_edit"):
        text = json.dumps(load_schema(f"io.jsctl.v1.{verb}"))
        assert '"before": {}' in text and '"after": {}' in text, verb
    row = {"key": "max_msgs", "before": None, "after": 5, "deletes_precision": "exact"}
    row |= {"deletes_messages": 0, "deletes_bytes": 0}
    assert validate([row], load_schema("io.jsctl.v1.stream_edit")) == []
    assert validate([{**row, "after": [{"name": "A"}]}], load_schema("io.jsctl.v1.stream_edit")) == []
    assert validate([{**row, "key": 1}], load_schema("io.jsctl.v1.stream_edit"))
    other = find_output({"rows": [{"before": 1, "after": 2, "name": "A"}]})
    assert other.keys["rows[]"]["after"] == "number"


def test_another_type_is_not_valid() -> None:
    schema = describe(
        find_output({"names": ["a"], "state": {"messages": 1, "lag": None}, "rows": [{"up": True}]})
    )
    assert (
        validate({"names": None, "state": {"messages": 1.5, "lag": "x", "more": 1}, "rows": []}, schema) == []
    )
    wrong = {"names": [1], "state": {"messages": "1", "lag": 0}, "rows": [{"up": 0}, []]}
    assert [error.partition(" is ")[0] for error in validate(wrong, schema)] == [
        "names[0]",
        "state.messages",
        "rows[0].up",
        "rows[1]",
    ]
    assert validate([], schema) == ["the document is a list, not an object"]


def test_a_key_that_was_always_there_is_required() -> None:
    output = find_output({"rows": [{"a": 1, "b": 2}, {"a": 1}]}, {"rows": [], "more": None})
    schema = describe(output)
    assert output.format("v") == "= v (0): more?:null rows:[object]\n- rows[]: a:number b?:number"
    assert validate({"rows": []}, schema) == [] and validate({"rows": [{"a": None}]}, schema) == []
    assert validate({}, schema) == ["the document lacks rows"]
    assert validate({"rows": [{"b": 1}]}, schema) == ["rows[0] lacks a"]


def test_what_verbs_always_write_is_required() -> None:
    for verb, keys in {
        "consumer_report": "consumers missing offline refused",
        "consumer_rm": "consumer stream",
        "kv_del": "bucket deleted",
        "publish": "bytes messages seconds",
        "server_network_down": "down folder network",
        "stream_purge": "config created state",
    }.items():
        schema = load_schema(f"io.jsctl.v1.{verb}")
        plain = next(form for form in schema.get("anyOf", [schema]) if "--" not in form["title"])
        assert plain["required"] == keys.split(), verb


def test_keys_of_verbs_are_found_anew() -> None:
    text = (
        "= kv del (0): bucket? keys?:[text]\n= stream info (0): config?:object created? state?:object ts?\n"
    )
    anew = verb_shapes.require_all(text, {"kv del", "stream info"})
    assert anew.splitlines() == [
        "= kv del (0): bucket keys:[text]",
        "= stream info (0): config:object created state:object ts?",
    ]
    assert verb_shapes.require_all(text, set()) == text


def test_what_a_server_may_leave_out_is_not_required() -> None:
    for verb, output in verb_shapes.read().items():
        for path, members in output.keys.items():
            assert verb_shapes.mark_sent(verb, path, members) == members, (verb, path)
    schema = load_schema("io.jsctl.v1.stream_info")
    assert schema["required"] == ["config", "created", "state"]
    assert schema["properties"]["config"]["required"] == ["name"]


def test_every_verb_with_a_document_has_a_schema() -> None:
    assert set(load_outputs()) <= set(list_names())
    for name in load_outputs():
        schema = load_schema(name)
        assert schema["title"] == name and schema["description"] and schema["$schema"]
    read = parse(verb_shapes.FILE.read_text())
    verbs = {line.partition(" --")[0].removesuffix(" BUCKET") for line in read}
    assert len(load_outputs()) > 280 and len(
        {outputs.PREFIX + verb.replace(" ", "_") for verb in verbs}
    ) == len(verbs)


def test_what_other_flags_write_is_a_form_of_the_same_schema() -> None:
    flags = {path: {name for param in resolve(path.split()).params for name in param.opts} for path in VERBS}
    for flag in outputs.FORMS:
        expected = {path for path in VERBS if flag in flags[path]} - {"stream gaps", "agent stop"}
        known = {line.removesuffix(f" {flag}") for line in verb_shapes.read() if line.endswith(f" {flag}")}
        same = {"consumer pcgroup rm", "context rm", "kv purge"} if flag == "--missing-ok" else set()
        if flag == "--jetstream":  # of accounts, and of graphs, it means something else
            expected = {"publish"}
        if flag == "BUCKET":
            expected = {"object info"}
        assert known == expected - same, flag
    schema = load_schema("io.jsctl.v1.stream_rm")
    assert [form["title"] for form in schema["anyOf"]] == [
        "stream rm",
        "stream rm --dry-run",
        "stream rm --missing-ok",
    ]
    assert validate({"dry_run": True, "would": "delete Stream A"}, schema)  # which lacks what it would lose
    assert validate({"removed": False, "missing": "there is no stream A"}, schema) == []
    assert validate({"removed": "no", "missing": "there is no stream A"}, schema)
