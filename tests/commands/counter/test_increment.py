"""`counter increment`."""

from tests.support.run import Cli


def test_each_change_shows_the_new_value(hits: Cli) -> None:
    for line, value in (
        ("increment hits.a", "1"),
        ("incr hits.a 5", "6"),
        ("i hits.a -2", "4"),
        ("incr hits.a +3", "7"),
        ("decrement hits.a 10", "-3"),
        ("decr hits.a", "-4"),
        ("d hits.a -4 --stream HITS", "0"),
        ("incr hits.a 007", "7"),
    ):
        assert hits(f"counter {line}", status=0).out == f"{value}\n", line
    assert hits("counter get hits.a", status=0).out == "7\n"
    assert hits("ctr incr hits.a --json", status=0).json == {
        "subject": "hits.a",
        "stream": "HITS",
        "value": "8",
    }
