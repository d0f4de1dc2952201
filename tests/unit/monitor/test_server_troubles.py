"""What a report says of servers, by the rules that doctor has, too."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jsctl.monitor.report.lines import TroubleLine
from jsctl.monitor.report.tracking import Tracker
from jsctl.monitor.trouble import BAD, WARN, Trouble


def test_storage_and_slow_connections() -> None:
    server = {"id": "N", "name": "n1"}
    tracker = Tracker()

    def add(at: float, slow: int, storage: int) -> list[tuple[str, str]]:
        stats: dict[str, Any] = {"server": server, "statsz": {"start": "s", "slow_consumers": slow}}
        use = {"server": server, "data": {"storage": storage, "config": {"max_storage": 100}}}
        tracker.add_servers(at, [stats], [use])
        assert tracker.servers is not None
        return [(trouble.code, trouble.words) for trouble in tracker.servers[0].troubles]

    assert add(1, 7, 50) == []  # those before the first round are not news
    assert add(2, 7, 95) == [("LIMIT_NEAR", "95% of its file storage")]
    assert add(3, 8, 50) == [("SLOW_CONSUMERS", "closed connections that read too slowly")]
    assert add(4, 8, 50) == []


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=20))
def test_a_server_that_no_longer_answers_is_a_problem(rounds: list[tuple[int, bool]]) -> None:
    """From five seconds on, a bad one from fifteen, until it answers again; one that never did is none."""
    tracker, at, heard = Tracker(), 0, None
    for seconds, answers in rounds:
        at += seconds
        heard = at if answers else heard
        names = ["n1", *["n2"] * answers]
        tracker.add_servers(at, [{"server": {"id": one, "name": one}, "statsz": {}} for one in names], [])
        found = [(one.name, one.troubles[0].code, one.level) for one in tracker.problems(at)]
        silence = 0 if heard is None else at - heard
        level = BAD if silence >= 15 else WARN
        assert found == ([(("n2",), "SERVER_SILENT", level)] if silence >= 5 else []), (at, heard)


def test_a_problem_stays_the_same_while_its_numbers_change() -> None:
    def key(words: str) -> object:
        return TroubleLine("stream", ("S",), [Trouble(words, True, "REPLICA_OFFLINE")], 0).key

    assert key("replica n2 not seen for 59s, 5 behind") == key("replica n2 not seen for 1m0s, 17 behind")
    assert key("replica n2 offline") != key("replica n3 offline")
