"""`exporter --subjects`: messages by subject, for a limited number of them."""

from hypothesis import given
from hypothesis import strategies as st

from jsctl.monitor.exporter.subjects import OTHER, SubjectCounts
from tests.commands.exporter.test_exporter import once
from tests.support import js
from tests.support.run import Cli


def test_messages_by_subject(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.stream(url, "EMPTY", "empty")
    for number, count in enumerate((3, 9, 1, 5)):
        js.publish(url, f"orders.{number}", count=count)
    series = once(cli, "--subjects 2")["jsctl_stream_subject_messages"]
    found = {(own["stream_name"], own["subject"]): count for own, count in series}
    assert found == {
        ("ORDERS", "orders.1"): 9,
        ("ORDERS", "orders.3"): 5,
        ("ORDERS", OTHER): 4,
        ("EMPTY", OTHER): 0,
    }
    assert all(own["account_id"] for own, _ in series)
    assert "jsctl_stream_subject_messages" not in once(cli)
    assert "--subjects" in cli("exporter --subjects -1 --count 1", status=64).err


ROUNDS = st.lists(st.dictionaries(st.sampled_from([*"abcdef", OTHER]), st.integers(1, 9)), max_size=6)


@given(ROUNDS, st.integers(1, 4))
def test_series_stay_and_are_few(rounds: list[dict[str, int]], limit: int) -> None:
    """Over all rounds a stream has no more series than asked for, and each round has all messages."""
    counts, seen = SubjectCounts(limit), set[str]()
    for now in rounds:
        shown = counts.choose("S", now)
        assert sum(shown.values()) == sum(now.values())
        assert seen <= set(shown)
        assert all(count == now.get(subject, 0) for subject, count in shown.items() if subject != OTHER)
        assert len(shown) > min(limit, len({*now} - {OTHER}))
        seen |= set(shown)
        assert len(seen) <= limit + 1
