"""Consumer configurations: what flags and answers become, and what is wrong without asking a server."""

from typing import Any

import pytest

from jsctl.base.units import MINUTE, SECOND
from jsctl.errors import BadInput
from jsctl.jetstream.consumer.config import (
    CONSUMER,
    find_warnings,
    parse_backoff,
    parse_deadline,
    with_filters,
    with_priority_groups,
    with_start,
)

NOW = 1_700_000_000.0  # 2023-11-14T22:13:20Z


@pytest.mark.parametrize(
    ("words", "config"),
    [
        ("all", {"deliver_policy": "all"}),
        ("LAST", {"deliver_policy": "last"}),
        ("new", {"deliver_policy": "new"}),
        ("next", {"deliver_policy": "new"}),
        ("subject", {"deliver_policy": "last_per_subject"}),
        ("last_per_subject", {"deliver_policy": "last_per_subject"}),
        ("10", {"deliver_policy": "by_start_sequence", "opt_start_seq": 10}),
        ("1h", {"deliver_policy": "by_start_time", "opt_start_time": "2023-11-14T21:13:20Z"}),
        (
            "2023-11-14T10:00:00Z",
            {"deliver_policy": "by_start_time", "opt_start_time": "2023-11-14T10:00:00Z"},
        ),
    ],
)
def test_start_policies(words: str, config: dict[str, Any]) -> None:
    assert with_start({"opt_start_seq": 7, "ack_policy": "none"}, words, NOW) == {
        "ack_policy": "none",
        **config,
    }


@pytest.mark.parametrize("words", ["", "0", "sometime", "1x", "-5", "2023-99-01"])
def test_wrong_start_policies(words: str) -> None:
    with pytest.raises(ValueError):
        with_start({}, words, NOW)


def test_backoffs() -> None:
    assert parse_backoff("none") == []
    assert parse_backoff("1s,5s,1m") == [SECOND, 5 * SECOND, MINUTE]
    # as `nats` 0.5.0: never up to the longest
    assert parse_backoff("linear", steps=3, shortest=SECOND, longest=10 * SECOND) == [
        SECOND,
        4 * SECOND,
        7 * SECOND,
    ]
    assert len(parse_backoff("linear")) == 10
    assert parse_backoff("linear")[-1] == 18 * MINUTE + 6 * SECOND
    assert parse_backoff("linear", steps=3, shortest=SECOND, longest=2 * SECOND)[1] == 1_333_000_000
    assert parse_backoff("linear", steps=1) == [MINUTE]


@pytest.mark.parametrize("mode", ["exponential", "1s,", "0s", "-1s"])
def test_wrong_backoffs(mode: str) -> None:
    with pytest.raises(ValueError):
        parse_backoff(mode)


def test_wrong_linear_backoffs() -> None:
    for wrong in ({"steps": 0}, {"shortest": 0}, {"shortest": 2 * MINUTE, "longest": MINUTE}):
        with pytest.raises(ValueError):
            parse_backoff("linear", **wrong)


def test_until() -> None:
    assert parse_deadline("1h", NOW) == "2023-11-14T23:13:20Z"
    assert parse_deadline("2026-11-21T06:57:05+00:00", NOW) == "2026-11-21T06:57:05Z"
    with pytest.raises(ValueError):
        parse_deadline("tomorrow", NOW)


def test_filters_go_where_they_fit() -> None:
    base = {"filter_subject": "old", "filter_subjects": ["x"], "name": "C"}
    assert with_filters(base, ["a"]) == {"name": "C", "filter_subject": "a"}
    assert with_filters(base, ["a,b", "c", "c"]) == {"name": "C", "filter_subjects": ["a,b", "c"]}
    assert with_filters(base, []) == {"name": "C"}


def test_a_file_replaces_the_other_way_to_filter() -> None:
    assert CONSUMER.update({"filter_subject": "a"}, {"filter_subjects": ["b", "c"]}) == {
        "filter_subjects": ["b", "c"]
    }
    assert CONSUMER.update({"filter_subjects": ["b"]}, {"filter_subject": "a"}) == {"filter_subject": "a"}


def test_defaults_follow_the_mode() -> None:
    assert CONSUMER.with_defaults({})["ack_policy"] == "explicit"
    assert CONSUMER.with_defaults({"deliver_subject": "x"})["ack_policy"] == "none"
    assert CONSUMER.with_defaults({"replay_policy": "original"})["replay_policy"] == "original"
    # The server wants a filter with this policy.
    assert CONSUMER.with_defaults({"deliver_policy": "last_per_subject"})["filter_subject"] == ">"


def test_priority_groups() -> None:
    assert with_priority_groups({}, {"overflow-groups": ["a,b"], "pinned-groups": ()}) == {
        "priority_policy": "overflow",
        "priority_groups": ["a", "b"],
    }
    with pytest.raises(BadInput, match="cannot be used together"):
        with_priority_groups({}, {"overflow-groups": ["a"], "pinned-groups": ["b"]})


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"name": "a.b"}, "not a valid consumer name"),
        ({"filter_subject": "a..b"}, "not a valid subject"),
        ({"deliver_subject": "a.>"}, "not a valid subject to publish to"),
        ({"deliver_subject": "a", "max_waiting": 5}, "--max-waiting is for pull"),
        ({"deliver_subject": "a", "priority_policy": "overflow"}, "for pull consumers"),
        ({"idle_heartbeat": SECOND}, "--heartbeat is for push"),
        ({"backoff": [1, 2], "max_deliver": 1}, "less than the 2 steps"),
        ({"deliver_subject": "a", "flow_control": True}, "needs a --heartbeat"),
        ({"ack_wait": "30s"}, "must be a whole number"),
    ],
)
def test_what_is_wrong(config: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        CONSUMER.validate({"name": "C", **config})


def test_what_the_server_ignores() -> None:
    config = {"ack_policy": "none", "backoff": [1], "deliver_group": "g", "max_batch": 5}
    CONSUMER.validate({"name": "C", **config})
    assert find_warnings(config) == [
        "backoff is ignored, as nothing is acknowledged",
        "deliver_group is ignored, as it is for push consumers",
    ]
    assert find_warnings({**config, "deliver_subject": "a", "backoff": []}) == [
        "max_batch is ignored, as it is for pull consumers"
    ]


def test_documents() -> None:
    info = (
        '{"stream_name": "S", "name": "C", "config": {"name": "C", "brand_new": 1,'
        ' "pause_until": "0001-01-01T00:00:00Z", "metadata": {"_nats.ver": "2", "a": "b"}}}'
    )
    assert CONSUMER.parse_config(info, "f") == {"name": "C", "brand_new": 1, "metadata": {"a": "b"}}
    assert CONSUMER.parse_config("ack_wait: 10s\nfilter_subjects: a b", "f") == {
        "ack_wait": 10 * SECOND,
        "filter_subjects": ["a", "b"],
    }
    for wrong in ('{"config": {"name": "S"}, "state": {}}', "[]", "{}", "a: ["):
        with pytest.raises(BadInput):
            CONSUMER.parse_config(wrong, "f")


def test_needed_levels() -> None:
    assert CONSUMER.find_needed_levels({"ack_policy": "explicit"}) == {}
    assert CONSUMER.find_needed_levels({"pause_until": "x", "priority_policy": "prioritized"}) == {
        1: ["--pause"],
        2: ["--prioritized-groups"],
    }
