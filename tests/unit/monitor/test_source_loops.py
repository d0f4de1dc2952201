"""Loops of mirrors and sources: those that a message can pass, and no others."""

from typing import Any

import pytest

from jsctl.monitor.rules.links import Edge, find_loops, read_ends

Sources = dict[str, list[Any]]


def loops(sources: Sources, **configs: Any) -> list[set[str]]:
    """The streams of each loop. sources: by stream; each a name, or (name, filter) or (name, from, to)."""
    edges = []
    for stream, origins in sources.items():
        for number, origin in enumerate(origins):
            name, *rest = (origin,) if isinstance(origin, str) else origin
            config: dict[str, Any] = {"name": name}
            if len(rest) == 1:
                config["filter_subject"] = rest[0]
            elif rest:
                config["subject_transforms"] = [{"src": rest[0], "dest": rest[1]}]
            edges.append(Edge(("", stream), ("", name), "source", config, [config], (stream, number)))
    ends = read_ends((("", name), config) for name, config in configs.items())
    return [{edge.to[1] for edge in loop} for loop in find_loops(edges, ends)]


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        ({"A": ["B"]}, []),
        ({"A": ["B"], "B": ["A"]}, [{"A", "B"}]),
        ({"A": ["A"]}, [{"A"}]),
        ({"A": ["B"], "B": ["C"], "C": ["A"]}, [{"A", "B", "C"}]),
        ({"A": ["B", "C"], "B": ["C"]}, []),  # two ways, no loop
        ({"A": [("B", "b.>")], "B": [("A", "a.>")]}, []),
        ({"A": [("B", "x.>")], "B": [("A", "x.*.y")]}, [{"A", "B"}]),
        ({"A": [("B", "b.>", "a.>")], "B": [("A", "a.>", "b.>")]}, [{"A", "B"}]),
        ({"A": [("B", "b.*", "a.$1")], "B": [("A", "a.x.>", "b.>")]}, []),
        ({"A": [("B", "*.x")], "B": [("A", "y.*")]}, [{"A", "B"}]),
        ({"A": [("B", "b.>"), "C"], "B": [("A", "a.>")], "C": ["A"]}, [{"A", "C"}]),
    ],
)
def test_loops(sources: Sources, found: list[set[str]]) -> None:
    assert loops(sources) == found


def test_what_a_stream_makes_of_subjects_is_not_guessed() -> None:
    transforming = {"subject_transform": {"src": ">", "dest": "done.>"}}
    assert loops({"A": ["B"], "B": ["A"]}, A=transforming) == []


def test_many_streams_that_copy_each_other_are_no_burden() -> None:
    names = [str(number) for number in range(60)]
    assert loops({name: [other for other in names if other != name] for name in names})
