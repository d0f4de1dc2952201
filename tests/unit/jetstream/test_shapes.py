"""Answers have the shapes that servers give them: one by one, and many of a list together."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.errors import MalformedAnswer
from jsctl.jetstream.api import parse_response
from jsctl.jetstream.shape_check import Malformed
from jsctl.jetstream.shapes import check_answer

LIST = "$JS.API.STREAM.LIST"
TIME = "2026-11-21T06:57:05.123456789Z"


def info(number: int = 0) -> dict[str, Any]:
    """A stream as servers list it."""
    counts = ("messages", "bytes", "first_seq", "last_seq", "consumer_count")
    limits = ("max_msgs", "max_bytes", "max_age", "num_replicas")
    peers = [{"name": name, "current": True, "active": 5, "peer": name} for name in ("n1", "n2")]
    return {
        "config": {
            "name": f"S{number}",
            "subjects": [f"s.{number}.>", "t"],
            "retention": "limits",
            "storage": "file",
            **dict.fromkeys(limits, number),
            "sealed": False,
            "metadata": {"_nats.req.level": "0"},
        },
        "created": TIME,
        "state": {**dict.fromkeys(counts, number), "first_ts": TIME, "last_ts": "0001-01-01T00:00:00Z"},
        "cluster": {"leader": "n3", "replicas": peers},
        "unknown": {"a": [1, None]},
    }


def infos(count: int) -> list[Any]:
    return [info(number) for number in range(count)]


DEEP: Any = None
for _ in range(150):
    DEEP = [DEEP]

WRONG: list[tuple[tuple[Any, ...], Any, str]] = [
    (("config", "max_msgs"), "many", "config.max_msgs is not a number"),
    (("config", "max_msgs"), 1 << 64, "config.max_msgs is not a number"),
    (("config", "max_msgs"), True, "config.max_msgs is not a number"),
    (("config", "name"), None, "config.name is missing"),
    (("config", "subjects"), "s", "config.subjects is not a list"),
    (("config", "subjects", 1), 7, "config.subjects[1] is not a text"),
    (("config", "sealed"), 0, "config.sealed is not true or false"),
    (("config", "metadata"), {"a": 1}, "config.metadata.a is not a text"),
    (("config",), [], "config is not an object"),
    (("created",), "yesterday", "created is not a time"),
    (("state", "last_ts"), 5, "state.last_ts is not a time"),
    (("cluster", "replicas", 1, "active"), 0.5, "cluster.replicas[1].active is not a number"),
    (("cluster", "replicas", 0, "name"), None, "cluster.replicas[0].name is missing"),
    (("unknown",), DEEP, "unknown is nested too deeply"),
    (("config", "unknown"), {"a": DEEP}, "config.unknown is nested too deeply"),
]


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


@pytest.mark.parametrize("count", [1, 30])
@pytest.mark.parametrize(("path", "value", "what"), WRONG)
def test_the_place_of_what_is_wrong(path: tuple[Any, ...], value: Any, what: str, count: int) -> None:
    streams = infos(count)
    put(streams[-1], path, value)
    with pytest.raises(Malformed) as caught:
        check_answer({"streams": streams}, LIST)
    assert str(caught.value) == f"streams[{count - 1}].{what}"


@pytest.mark.parametrize("name", ["config", "state", "created"])
def test_a_field_that_one_of_many_lacks(name: str) -> None:
    streams = infos(30)
    del streams[3][name]
    with pytest.raises(Malformed, match=rf"streams\[3\]\.{name} is missing"):
        check_answer({"streams": streams}, LIST)


def test_many_that_differ() -> None:
    """Optional fields, null where a server may say nothing, and other orders of fields."""
    streams = infos(40)
    for number, one in enumerate(streams):
        if number % 2:
            one["cluster"] = None
        if number % 3:
            del one["config"]["metadata"]
        if number % 5:
            one["config"] = dict(reversed(one["config"].items()))
    check_answer({"streams": streams}, LIST)
    check_answer({"streams": infos(40)}, LIST)


def test_an_answer_that_is_too_deep() -> None:
    data = b'{"streams": [], "x": ' + b"[" * 150 + b"]" * 150 + b"}"
    with pytest.raises(MalformedAnswer, match="x is nested too deeply"):
        parse_response(data, LIST)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.just(TIME),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
)
PATHS = [path for path, _, _ in WRONG] + [("state", "messages"), ("config", "storage"), ("new",)]


@given(st.lists(st.tuples(st.integers(0, 19), st.sampled_from(PATHS), VALUES), max_size=3))
def test_many_are_checked_like_each(changes: list[tuple[int, tuple[Any, ...], Any]]) -> None:
    streams = infos(20)
    for number, path, value in changes:
        try:
            put(streams[number], path, copy.deepcopy(value))
        except (TypeError, LookupError):  # a change before took its place
            continue
    assert fault({"streams": streams}, LIST) == next(
        (
            f"streams[{at}].{text}"
            for at, one in enumerate(streams)
            if (text := fault(one, "$JS.API.STREAM.INFO.S"))
        ),
        "",
    )


def fault(answer: Any, subject: str) -> str:
    try:
        check_answer(answer, subject)
    except Malformed as error:
        return str(error)
    return ""
