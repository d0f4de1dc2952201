"""Mappings of subjects; the expected values are what nats-server 2.15 computes."""

import pytest

from jsctl.errors import BadInput
from jsctl.nats.transform import SubjectTransform


@pytest.mark.parametrize(
    ("source", "destination", "subject", "mapped"),
    [
        ("a.*.b", "x.{{wildcard(1)}}", "a.1.b", "x.1"),
        ("a.*.*", "x.{{partition(5,1,2)}}.{{wildcard(2)}}", "a.foo.bar", "x.0.bar"),
        ("a.*", "x.{{partition(3)}}", "a.foo", "x.2"),
        ("a.*", "x.$1", "a.foo", "x.foo"),
        ("a.*.*", "x.*.*", "a.1.2", "x.1.2"),
        ("*", "{{splitfromleft(1,3)}}", "12345", "123.45"),
        ("*", "{{SplitFromRight(1,3)}}", "12345", "12.345"),
        ("*", "{{slicefromleft(1,2)}}", "12345", "12.34.5"),
        ("*", "{{SliceFromRight(1,2)}}", "12345", "1.23.45"),
        ("*", "{{split(1,-)}}", "a-b-c", "a.b.c"),
        ("a.*", "{{left(1,2)}}", "a.xyz", "xy"),
        ("a.*", "{{right(1,2)}}", "a.xyz", "yz"),
        ("a.>", "b.>", "a.1.2", "b.1.2"),
        ("a.b", "c", "a.b", "c"),
    ],
)
def test_what_the_server_computes(source: str, destination: str, subject: str, mapped: str) -> None:
    assert SubjectTransform(source, destination).apply(subject) == mapped


@pytest.mark.parametrize(
    ("source", "subject"), [("a.*", "b.b"), ("a.*", "a.b.c"), ("a.>", "a"), ("a.b", "a"), ("a.*", "a.")]
)
def test_what_does_not_match(source: str, subject: str) -> None:
    destination = "x.>" if source.endswith(">") else "x"
    assert SubjectTransform(source, destination).apply(subject) is None


@pytest.mark.parametrize(
    ("source", "destination"),
    [
        ("a.*", "x.{{wildcard(2)}}"),
        ("a.*", "x.$0"),
        ("a.*", "x.{{nonsense(1)}}"),
        ("a.*", "x.{{partition()}}"),
        ("a.*", "x.{{partition(0)}}"),
        ("a.*", "x.{{split(1)}}"),
        ("a.*", "x.y{{wildcard(1)}}"),
        ("a.*", "x..y"),
        ("a.*", "x.>"),
        ("a..b", "x"),
        ("", "x"),
        ("a", ""),
    ],
)
def test_what_is_refused(source: str, destination: str) -> None:
    with pytest.raises(BadInput):
        SubjectTransform(source, destination)
