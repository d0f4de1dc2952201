"""The expression language of `stream find`."""

import contextlib
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.jetstream.find.criteria import StreamCriteria
from jsctl.jetstream.find.expression import compile_expression
from jsctl.nats.subjects import overlaps

INFO: dict[str, Any] = {
    "config": {
        "name": "ORDERS",
        "subjects": ["ORDERS.*", "js.in.orders_1"],
        "storage": "file",
        "num_replicas": 3,
        "max_msgs_per_subject": 5,
        "sealed": False,
        "metadata": {"Owner": "team a", "_nats.req.level": "2"},
    },
    "state": {"messages": 12, "consumer_count": 2, "last_ts": "2026-11-21T06:00:00Z"},
    "cluster": {"name": "lon", "leader": "n1", "replicas": [{"name": "n2"}]},
    "created": "2026-11-20T06:00:00Z",
}
NAMES = {"config": INFO["config"], "state": INFO["state"], "info": INFO}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("state.messages > 10", True),
        ("state.messages < 10", False),
        ("state.messages >= 12 and state.messages <= 12", True),
        ("state.messages == 12 && config.storage != 'memory'", True),
        ("state.messages == 1 || config.storage == `file`", True),
        ("!(state.messages == 1)", True),
        ("not config.sealed", True),
        ("!config.sealed and !false", True),
        ('info.cluster.name in ["lon", "sfo"]', True),
        ('info.cluster.name not in ["lon", "sfo"]', False),
        ('"js.in.orders_1" in config.subjects', True),
        ("config.name contains 'DER'", True),
        ("config.name startsWith 'ORD' and config.name endsWith 'S'", True),
        ("config.name matches '^O.*S$'", True),
        ("not (config.name matches 'X')", True),
        ("len(config.subjects) == 2", True),
        ("len(config.nothing) == 0", True),
        ("config.subjects[0] == 'ORDERS.*' and config.subjects[-1] startsWith 'js'", True),
        ("config.subjects[7] == nil", True),
        ('config.metadata["_nats.req.level"] == "2"', True),
        ("state.messages * 2 + 1 == 25 and state.messages / 5 > 2 and state.messages % 5 == 2", True),
        ("state.messages - 2 - 3 == 7 and 2 + 3 * 4 == 14 and (2 + 3) * 4 == 20", True),
        ("-1 < 0 and 1.5e3 == 1500", True),
        ("true or state.messages > 'x'", True),
        ("1 == 2 or 1 == 1 and 2 == 2", True),
        ("(1 == 1 or 1 == 1) and 2 == 3", False),
        # What the server leaves out is zero, empty or false.
        ("state.num_deleted == 0", True),
        ("state.num_deleted > 0", False),
        ("state.num_deleted != 0", False),
        ("config.description == ''", True),
        ("config.allow_direct == false", True),
        ("config.allow_direct", False),
        ("config.mirror == nil and config.mirror.name == nil", True),
        ("'x' in config.sources", False),
        ("config.description contains 'x'", False),
        ("config.name == 'it\\'s'", False),
    ],
)
def test_expressions(text: str, holds: bool) -> None:
    assert compile_expression(text)(NAMES) is holds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is incomplete"),
        ("state.messages >", "is incomplete"),
        ("(1 == 1", "is incomplete"),
        ("state.messages 12", "at '12'"),
        ("state.messages = 12", "at '= 12'"),
        ("1 == 1 )", "at ')'"),
        ("state..messages == 1", "at '.messages == 1'"),
        ("config.name == 'open", 'at "\'open"'),
        ("__import__('os')", "unknown function '__import__'; it may have len"),
        ("and", "at 'and'"),
        ("[1, 2", "is incomplete"),
        ("(" * 5000 + "1", "nested"),
    ],
)
def test_what_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(ValueError, match="expression") as caught:
        compile_expression(text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("state.messages", "not a condition"),
        ("state.messages > 'x'", "cannot compare"),
        ("nothing > 1", "the names are config, state, info"),
        ("config.name.length == 1", "has no 'length'"),
        ("config.name matches '('", "not a valid regular expression"),
        ("state.messages and true", "neither true nor false"),
        ("state.messages / 0 == 1", "cannot calculate"),
    ],
)
def test_expressions_without_a_meaning(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compile_expression(text)(NAMES)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        compile_expression(text)(NAMES)


@given(
    st.lists(
        st.sampled_from(["(", ")", "not", "!", "-", "1", "'a'", "==", "and", "[", "]", ",", "state", ".x"])
    )
)
def test_any_tokens_are_read_or_refused(tokens: list[str]) -> None:
    with contextlib.suppress(ValueError):
        compile_expression(" ".join(tokens))(NAMES)


NOW = 1795240800 + 3600  # an hour after 2026-11-21T06:00:00Z


def fits(wanted: dict[str, Any], *, invert: bool = False) -> bool:
    return bool(StreamCriteria(**wanted, invert=invert).filter_infos([INFO], NOW))


@pytest.mark.parametrize(
    ("wanted", "does"),
    [
        ({}, True),
        ({"server_name": "n[12]"}, True),
        ({"server_name": "n2"}, True),
        ({"server_name": "n3"}, False),
        ({"cluster": "^l"}, True),
        ({"cluster": "sfo"}, False),
        ({"empty": True}, False),
        ({"idle": 3599 * 10**9}, True),
        ({"idle": 3601 * 10**9}, False),
        ({"created": 25 * 3600 * 10**9}, True),
        ({"created": 26 * 3600 * 10**9}, False),
        ({"consumers": 2}, True),
        ({"consumers": 1}, False),
        ({"subject": "ORDERS.new"}, True),
        ({"subject": "ORDERS.>"}, True),
        ({"subject": "other.>"}, False),
        ({"replicas": 3}, True),
        ({"replicas": 1}, False),
        ({"sourced": True}, False),
        ({"mirrored": True}, False),
        ({"leader": "n1"}, True),
        ({"leader": "n2"}, False),
        ({"api_level": 2}, True),
        ({"api_level": 3}, False),
        ({"expression": "Info.State.Msgs == 12 and Info.Config.Replicas == 3"}, True),
        ({"expression": "Info.Config.MaxMsgsPer == 5 and Info.State.Consumers == 2"}, True),
        ({"expression": "Info.Cluster.Replicas[0].Name == 'n2'"}, True),
        ({"expression": "Info.Config.Metadata['Owner'] == 'team a'"}, True),
        ({"expression": "state.messages == 1"}, False),
        ({"leader": "n1", "consumers": 1}, False),
    ],
)
def test_criteria(wanted: dict[str, Any], does: bool) -> None:
    read: dict[str, Callable[[Any], Any]] = {
        "server_name": re.compile,
        "cluster": re.compile,
        "expression": compile_expression,
    }
    wanted = {name: read.get(name, lambda value: value)(value) for name, value in wanted.items()}
    assert fits(wanted) is does
    if len(wanted) == 1:
        assert fits(wanted, invert=True) is not does


def test_a_stream_that_never_had_a_message_is_idle() -> None:
    silent = {**INFO, "state": {"messages": 0, "last_ts": "0001-01-01T00:00:00Z"}}
    assert StreamCriteria(idle=1).filter_infos([silent], NOW)


@pytest.mark.parametrize(
    ("one", "other", "do"),
    [
        ("a.b", "a.b", True),
        ("a.b", "a.c", False),
        ("a.*", "*.b", True),
        ("a.*", "a", False),
        ("a.>", "a", False),
        ("a.>", "*.b.c", True),
        (">", "a.b.c", True),
        ("a.b", "a.b.c", False),
        ("a.b.>", "a.*", False),
        ("a.>", "b.>", False),
    ],
)
def test_subjects_overlap(one: str, other: str, do: bool) -> None:
    assert overlaps(one, other) is do
    assert overlaps(other, one) is do


@pytest.mark.parametrize("count", [2, 5000])
def test_long_conditions(count: int) -> None:
    """As scripts write them, of all ids that they look for."""
    anywhere = compile_expression(" or ".join(f"id == {number}" for number in range(count)))
    nowhere = compile_expression(" and ".join(f"id != {number}" for number in range(count)))
    for number in (0, count - 1, count):
        assert anywhere({"id": number}) is (number < count) is not nowhere({"id": number})
    assert compile_expression(f"id == {' + '.join(['1'] * count)} - 1")({"id": count - 1})


def test_what_is_nested_too_deeply_is_said() -> None:
    condition = compile_expression("a" + ".a" * 50_000 + " == 1")
    with pytest.raises(ValueError, match="nested too deeply"):
        condition({"a": None})


def test_regular_expressions_are_checked_when_they_are_read() -> None:
    with pytest.raises(ValueError, match=r"'\(' is not a valid regular expression"):
        compile_expression("id == 1 and text matches '('")
