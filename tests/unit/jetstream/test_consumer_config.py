"""Consumer configurations: what flags and answers become, and what is wrong without asking a server."""

from typing import Any

import pytest

from jsctl.errors import BadInput
from jsctl.jetstream.consumer import config as configs
from jsctl.units import MINUTE, SECOND

NOW = 1_700_000_000.0  # 2023-11-14T22:13:20Z


@pytest.mark.parametrize(
    ("said", "config"),
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
def test_start_policies(said: str, config: dict[str, Any]) -> None:
    assert configs.starting({"opt_start_seq": 7, "ack_policy": "none"}, said, NOW) == {
        "ack_policy": "none",
        **config,
    }


@pytest.mark.parametrize("said", ["", "0", "sometime", "1x", "-5", "2023-99-01"])
def test_wrong_start_policies(said: str) -> None:
    with pytest.raises(ValueError):
        configs.starting({}, said, NOW)


def test_backoffs() -> None:
    assert configs.backoff("none") == []
    assert configs.backoff("1s,5s,1m") == [SECOND, 5 * SECOND, MINUTE]
    assert configs.backoff("linear", steps=3, least=MINUTE, most=3 * MINUTE) == [
        MINUTE,
        2 * MINUTE,
        3 * MINUTE,
    ]
    assert len(configs.backoff("linear")) == 10
    assert configs.backoff("linear")[-1] == 20 * MINUTE
    assert configs.backoff("linear", steps=1) == [MINUTE]


@pytest.mark.parametrize("mode", ["exponential", "1s,", "0s", "-1s"])
def test_wrong_backoffs(mode: str) -> None:
    with pytest.raises(ValueError):
        configs.backoff(mode)


def test_wrong_linear_backoffs() -> None:
    for wrong in ({"steps": 0}, {"least": 0}, {"least": 2 * MINUTE, "most": MINUTE}):
        with pytest.raises(ValueError):
            configs.backoff("linear", **wrong)


def test_until() -> None:
    assert configs.until("1h", NOW) == "2023-11-14T23:13:20Z"
    assert configs.until("2026-11-21T06:57:05+00:00", NOW) == "2026-11-21T06:57:05Z"
    with pytest.raises(ValueError):
        configs.until("tomorrow", NOW)


def test_filters_go_where_they_fit() -> None:
    base = {"filter_subject": "old", "filter_subjects": ["x"], "name": "C"}
    assert configs.with_filters(base, ["a"]) == {"name": "C", "filter_subject": "a"}
    assert configs.with_filters(base, ["a,b", "a"]) == {"name": "C", "filter_subjects": ["a", "b"]}
    assert configs.with_filters(base, [""]) == {"name": "C"}


def test_a_file_replaces_the_other_way_to_filter() -> None:
    assert configs.over({"filter_subject": "a"}, {"filter_subjects": ["b", "c"]}) == {
        "filter_subjects": ["b", "c"]
    }
    assert configs.over({"filter_subjects": ["b"]}, {"filter_subject": "a"}) == {"filter_subject": "a"}


def test_defaults_follow_the_mode() -> None:
    assert configs.with_defaults({})["ack_policy"] == "explicit"
    assert configs.with_defaults({"deliver_subject": "x"})["ack_policy"] == "none"
    assert configs.with_defaults({"replay_policy": "original"})["replay_policy"] == "original"
    # The server wants a filter with this policy.
    assert configs.with_defaults({"deliver_policy": "last_per_subject"})["filter_subject"] == ">"


def test_priority_groups() -> None:
    assert configs.grouped({}, {"overflow-groups": ["a,b"], "pinned-groups": ()}) == {
        "priority_policy": "overflow",
        "priority_groups": ["a", "b"],
    }
    with pytest.raises(BadInput, match="exclude each other"):
        configs.grouped({}, {"overflow-groups": ["a"], "pinned-groups": ["b"]})


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"name": "a.b"}, "not a valid consumer name"),
        ({"filter_subject": "a..b"}, "no subject"),
        ({"deliver_subject": "a.>"}, "no subject to publish to"),
        ({"deliver_subject": "a", "max_waiting": 5}, "--max-waiting is for pull"),
        ({"deliver_subject": "a", "priority_policy": "overflow"}, "for pull consumers"),
        ({"idle_heartbeat": SECOND}, "--heartbeat is for push"),
        ({"deliver_group": "g"}, "--deliver-group is for push"),
        ({"backoff": [1, 2], "max_deliver": 1}, "less than the 2 steps"),
        ({"backoff": [1], "ack_policy": "none"}, "needs acknowledgements"),
        ({"deliver_subject": "a", "flow_control": True}, "needs a --heartbeat"),
        ({"ack_wait": "30s"}, "it takes a whole number"),
    ],
)
def test_what_is_wrong(config: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        configs.check({"name": "C", **config})


def test_documents() -> None:
    info = (
        '{"stream_name": "S", "name": "C", "config": {"name": "C", "brand_new": 1,'
        ' "pause_until": "0001-01-01T00:00:00Z", "metadata": {"_nats.ver": "2", "a": "b"}}}'
    )
    assert configs.parse_config(info, "f") == {"name": "C", "brand_new": 1, "metadata": {"a": "b"}}
    assert configs.parse_config("ack_wait: 10s\nfilter_subjects: a b", "f") == {
        "ack_wait": 10 * SECOND,
        "filter_subjects": ["a", "b"],
    }
    for wrong in ('{"config": {"name": "S"}, "state": {}}', "[]", "{}", "a: ["):
        with pytest.raises(BadInput):
            configs.parse_config(wrong, "f")


def test_needed_levels() -> None:
    assert configs.needed_levels({"ack_policy": "explicit"}) == {}
    assert configs.needed_levels({"pause_until": "x", "priority_policy": "prioritized"}) == {
        1: ["--pause"],
        2: ["--prioritized-groups"],
    }
