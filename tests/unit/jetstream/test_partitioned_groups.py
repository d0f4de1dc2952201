"""Partitioned consumer groups: who reads which partition, as orbit.go's pcgroups divides them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.errors import BadInput
from jsctl.jetstream.partitioned_groups import Group, build_group, build_queue, with_members

NAMES = st.lists(st.sampled_from([f"m{number}" for number in range(12)]), min_size=1)


def group(count: int, *members: str, **config: Any) -> Group:
    return Group("S", "G", "elastic", {"max_members": count, "members": list(members), **config})


@pytest.mark.parametrize(
    ("count", "members", "owners"),
    [
        (6, ["m1", "m2", "m3"], "m1 m1 m2 m2 m3 m3"),
        (7, ["m3", "m1", "m2"], "m1 m1 m2 m2 m3 m3 m1"),
        (8, ["m1", "m2", "m3"], "m1 m1 m2 m2 m3 m3 m1 m2"),
        (2, ["c", "a", "b", "a"], "a b"),
        (3, [], ""),
    ],
)
def test_as_orbit_divides(count: int, members: list[str], owners: str) -> None:
    """The results of pcgroups 0.2.2: GeneratePartitionFilters."""
    assert " ".join(group(count, *members).owners.values()) == owners


@given(st.integers(1, 40), NAMES)
def test_each_partition_has_an_owner(count: int, members: list[str]) -> None:
    owners = group(count, *members).owners
    assert sorted(owners) == list(range(count))
    shares = [list(owners.values()).count(member) for member in set(owners.values())]
    assert len(shares) == min(count, len(set(members)))
    assert max(shares) - min(shares) <= 1


def test_the_stream_of_an_elastic_group() -> None:
    filters = [{"filter": "foo.*.*.>", "partitioning_wildcards": [1, 2]}]
    queue = build_queue(
        group(4, partitioning_filters=filters, max_buffered_msg=9), {"storage": "memory", "num_replicas": 3}
    )
    destination = "{{Partition(4,1,2)}}.foo.{{Wildcard(1)}}.{{Wildcard(2)}}.>"
    assert queue["sources"] == [
        {"name": "S", "subject_transforms": [{"src": "foo.*.*.>", "dest": destination}]}
    ]
    assert (queue["name"], queue["max_msgs"], queue["num_replicas"]) == ("S-G", 9, 3)
    [source] = build_queue(group(4, partitioning_filters=None), {"storage": "file", "num_replicas": 1})[
        "sources"
    ]
    assert source["subject_transforms"] == [{"src": ">", "dest": "{{Partition(4)}}.>"}]


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({"max_members": 2, "member_mappings": [{"member": "a", "partitions": [0]}]}, "partitions 0 to 1"),
        ({"max_members": 2, "member_mappings": [{"member": "a", "partitions": [0, 1, 1]}]}, "0 to 1"),
        (
            {"max_members": 2, "member_mappings": [{"member": "a", "partitions": [n]} for n in (0, 1)]},
            "each member must be mapped once",
        ),
        ({"max_members": 0}, "1 or more"),
        ({"max_members": 2, "partitioning_filters": [{"filter": "a.b"}]}, "a \\* as a token"),
        (
            {"max_members": 2, "partitioning_filters": [{"filter": "*", "partitioning_wildcards": [2]}]},
            "has 1 wildcard \\*",
        ),
        ({"max_members": 2, "members": ["a.b"]}, "not a valid member name"),
        ({"max_members": 2, "member_mappings": 7}, "not the JSON of a group"),
    ],
)
def test_wrong_configurations(config: dict[str, Any], error: str) -> None:
    with pytest.raises(BadInput, match=error):
        build_group("S", "G", "elastic", config)


def test_other_members_leave_unknown_keys() -> None:
    before = group(2, "a", later={"new": 1})
    after = with_members(before, {"members": ["b"]})
    assert after.config == {"max_members": 2, "later": {"new": 1}, "members": ["b"]}
    assert "members" not in with_members(before, {}).config


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "a", "*", "a.*", ">"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["member", "partitions", "filter", "partitioning_wildcards"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
_KEYS = ["max_members", "members", "member_mappings", "partitioning_filters", "filters", "max_buffered_msg"]


@given(st.dictionaries(st.sampled_from(_KEYS), _ANY), st.sampled_from(["static", "elastic"]))
def test_what_others_stored_is_refused_or_readable(config: dict[str, Any], kind: Any) -> None:
    found = Group("S", "G", kind, config)
    if not found.violation:
        assert set(found.owners) <= set(range(config["max_members"]))
        assert all(
            isinstance(name, str) for name in [*found.members, *found.subjects, *found.owners.values()]
        )
