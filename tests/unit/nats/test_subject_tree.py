"""A tree of subjects finds what a comparison with each of them finds."""

from hypothesis import given
from hypothesis import strategies as st

from jsctl.nats.subject_tree import SubjectTree
from jsctl.nats.subjects import overlaps


@st.composite
def subjects(draw: st.DrawFn) -> str:
    tokens = draw(st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=4))
    return ".".join([*tokens, *([">"] if draw(st.booleans()) else [])])


@given(st.lists(subjects() | st.just(">"), max_size=8), subjects() | st.just(">"))
def test_it_finds_what_overlaps(known: list[str], subject: str) -> None:
    tree = SubjectTree[int]()
    for number, each in enumerate(known):
        tree.add(each, number)
    expected = {number for number, each in enumerate(known) if overlaps(each, subject)}
    assert {*tree.find(subject)} == expected


def test_it_is_not_searched_as_a_whole() -> None:
    tree = SubjectTree[int]()
    for number in range(50_000):
        tree.add(f"orders.{number}.>", number)
    for number in range(50_000):
        assert [*tree.find(f"orders.{number}.new")] == [number]
