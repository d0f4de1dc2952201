"""Configurations as raw JSON: nothing is lost, nothing differs that only reads differently."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from jsctl.errors import BadInput
from jsctl.jetstream.config import origins
from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.stream.config import STREAM
from jsctl.nats.subjects import is_subject, validate_name

# YAML has no place for some control characters, and 64 bits are what the server takes.
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=8)
UNKNOWN = st.recursive(
    st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
KEYS = TEXT.map(lambda text: "unheard_of_" + text)
NEWER = st.dictionaries(KEYS, UNKNOWN, max_size=5)
CONFIGS = NEWER.map(lambda unknown: {"name": "S", **unknown})


@given(NEWER)
def test_unknown_fields_survive_files_flags_and_defaults(newer: dict[str, Any]) -> None:
    known = {"name": "S", **newer}
    written = {"name": "S", "extra": newer}
    for text in (json.dumps(written), json.dumps({"config": known, "state": {}}), yaml.safe_dump(written)):
        read = STREAM.parse_config(text, "f")
        assert read == known
        result = STREAM.with_defaults(
            STREAM.apply_flags(read, {"max-msgs": 5, "metadata": ["k=v"], "tag": ["t"]})
        )
        assert {key: result[key] for key in known} == known
        assert (result["max_msgs"], result["metadata"], result["placement"]) == (
            5,
            {"k": "v"},
            {"tags": ["t"]},
        )


@given(CONFIGS)
def test_a_configuration_does_not_differ_from_itself(known: dict[str, Any]) -> None:
    assert find_differences(known, json.loads(json.dumps(known)), STREAM) == []


def test_applying_flags_leaves_the_original_alone() -> None:
    base = {"placement": {"cluster": "c"}, "metadata": {"a": "b"}}
    result = STREAM.apply_flags(base, {"tag": ["t"], "metadata": ["k=v"]})
    assert base == {"placement": {"cluster": "c"}, "metadata": {"a": "b"}}
    assert result == {"placement": {"cluster": "c", "tags": ["t"]}, "metadata": {"a": "b", "k": "v"}}


def test_each_flag_has_one_key() -> None:
    flags = [field.flag for field in STREAM.fields if field.flag]
    assert len(set(flags)) == len(flags)
    assert len(STREAM.by_key) == len(STREAM.fields)


@pytest.mark.parametrize(
    ("before", "after", "keys"),
    [
        ({"max_msgs": -1}, {"max_msgs": 0}, []),
        ({"subjects": ["a", "b"]}, {"subjects": ["b", "a"]}, []),
        ({"deny_purge": False, "consumer_limits": {}}, {}, []),
        ({"compression": "none"}, {}, []),
        ({"description": "none"}, {}, ["description"]),
        ({"metadata": {"a": "b"}}, {}, ["metadata.a"]),
        ({"max_msgs": 5}, {"max_msgs": -1}, ["max_msgs"]),
        ({"sources": [{"name": "a"}, {"name": "b"}]}, {"sources": [{"name": "b"}, {"name": "a"}]}, []),
    ],
)
def test_differences(before: dict[str, Any], after: dict[str, Any], keys: list[str]) -> None:
    assert [one.key for one in find_differences(before, after, STREAM)] == keys
    assert [one.key for one in find_differences(after, before, STREAM)] == keys


def test_what_the_server_owns_is_left_out() -> None:
    metadata = {"_nats.ver": "2", "_nats.level": "1"}
    assert STREAM.without_server_keys({"name": "S", "metadata": metadata}) == {"name": "S"}
    assert STREAM.without_server_keys({"metadata": {**metadata, "k": "v"}}) == {"metadata": {"k": "v"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("O", {"name": "O"}),
        ("O@a.b", {"name": "O", "external": {"api": "$JS.a.b.API"}}),
        ("O,api=P,deliver=D", {"name": "O", "external": {"api": "P", "deliver": "D"}}),
        ("O,start=7", {"name": "O", "opt_start_seq": 7}),
        ("O,start=2026-01-01T00:00:00Z", {"name": "O", "opt_start_time": "2026-01-01T00:00:00Z"}),
        ("O,filter=a:b", {"name": "O", "subject_transforms": [{"src": "a", "dest": "b"}]}),
        ('{"name": "O", "future": 1}', {"name": "O", "future": 1}),
    ],
)
def test_origins(text: str, expected: dict[str, Any]) -> None:
    assert origins.parse_origin(text) == expected


@pytest.mark.parametrize("text", ["", "a.b", "O@", "O,x", "O,x=1", "O,start=x", "{", "{}", '{"name": "a b"}'])
def test_no_origins(text: str) -> None:
    with pytest.raises(BadInput):
        origins.parse_origin(text)


@pytest.mark.parametrize("name", ["", "a.b", "a b", "*", ">", "a/b", "a\\b", "a\tb", "a\x00", "x" * 256])
def test_no_stream_names(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        validate_name(name)


def test_subjects() -> None:
    assert all(map(is_subject, ["a", "a.b", "*", "a.*.c", "a.>", ">", "$KV.x"]))
    assert not any(map(is_subject, ["", ".", "a.", ".a", "a..b", ">.a", "a b", None, 1]))
