"""What is kept of advisories, which any client of an account may publish."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jsctl.jetstream.shape_check import check
from jsctl.monitor.events import KINDS
from jsctl.monitor.exporter.advisory_counts import AdvisoryCounts
from jsctl.monitor.exporter.problems import EPHEMERAL
from jsctl.monitor.incident.advised import parse_advised
from jsctl.monitor.report.advisories import AdvisoryLog
from jsctl.monitor.report.round_json import ADVISORY_SHAPE
from jsctl.nats.message import Message

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
PREFIX = "io.nats.jetstream.advisory.v1."
KEYS = st.sampled_from(
    [
        "stream",
        "consumer",
        "server",
        "leader",
        "action",
        "client",
        "subject",
        "response",
        "domain",
        "timestamp",
    ]
)
EVENTS = st.tuples(st.sampled_from([*KINDS]) | VALUES, st.dictionaries(KEYS, VALUES))
SUBJECTS = st.sampled_from(
    [
        "$JS.EVENT.ADVISORY.X",
        "$SYS.SERVER.N.SHUTDOWN",
        "$SYS.SERVER.N.LAMEDUCK",
        "$SYS.SERVER.N.CLIENT.AUTH.ERR",
        "$SYS.ACCOUNT.A.CONNECT",
        "$SYS.ACCOUNT.A.DISCONNECT",
    ]
)


@given(st.lists(st.tuples(SUBJECTS, EVENTS), max_size=6))
def test_whatever_is_published_is_read_back(messages: list[tuple[str, tuple[Any, dict[str, Any]]]]) -> None:
    log = AdvisoryLog("", lambda: 1_800_000_000.0, is_recorded=True)
    for subject, (kind, event) in messages:
        log.add(Message(subject, data=json.dumps({"type": kind, **event}).encode()))
    entries = json.loads(json.dumps(log.take()))
    for entry in entries:
        check(entry, ADVISORY_SHAPE)
        parse_advised(entry, "c", "d", 0, 1)
    counts = AdvisoryCounts()
    counts.add(entries, [])
    assert all(sample.value >= 0 for sample in counts.build_samples({}))
    assert sum(entry["count"] for entry in entries) <= len(messages) and not log.take()


def test_consumers_through_which_jsctl_reads_are_left_out() -> None:
    """A recording reads schedules in that way."""
    log = AdvisoryLog("", lambda: 1_800_000_000.0, is_recorded=True)
    for name in ("jsctl_ow6M7Ddj", "jsctl_mine", "work"):
        subject = f"$JS.API.CONSUMER.CREATE.ORDERS.{name}.>"
        for event in (
            {"type": f"{PREFIX}consumer_action", "stream": "ORDERS", "consumer": name, "action": "create"},
            {"type": f"{PREFIX}api_audit", "subject": subject, "response": "{}"},
        ):
            log.add(Message("$JS.EVENT.ADVISORY.X", data=json.dumps(event, separators=(",", ":")).encode()))
    entries = log.take()
    assert len(entries) == 4 and "ow6M7Ddj" not in str(entries)


def test_many_different_ones_are_counted_by_kind() -> None:
    log = AdvisoryLog("", lambda: 1_800_000_000.0, is_recorded=False)
    for number in range(2_000):
        event = {"type": "io.nats.jetstream.advisory.v1.terminated", "stream": "S", "consumer": f"C{number}"}
        log.add(Message("$JS.EVENT.ADVISORY.X", data=json.dumps(event).encode()))
    entries = log.take()
    assert len(entries) == 501 and sum(entry["count"] for entry in entries) == 2_000


def test_advisories_wait_until_consumers_are_known() -> None:
    """A round that ends before its answers, or whose list was made before a consumer, knows no names."""
    counts = AdvisoryCounts()

    def read(name: str) -> float:
        samples = counts.build_consumer_samples({"stream_name": "S", "consumer_name": name})
        return {sample.metric: sample.value for sample in samples}["jsctl_consumer_terminated_total"]

    def advise(*names: str) -> list[dict[str, Any]]:
        facts = [{"stream": "S", "consumer": name} for name in names]
        return [{"kind": "terminated", "count": 1, "facts": one} for one in facts]

    infos = [{"stream_name": "S", "name": "C", "config": {"durable_name": "C"}}]
    counts.add(advise("C", "gone"), None)
    counts.add([], infos)
    assert (read("C"), read(EPHEMERAL)) == (1, 1)
    counts.add(advise("C"), [])
    counts.add(advise("C"), infos)
    assert (read("C"), read(EPHEMERAL)) == (3, 1)
    assert sum(one.value for one in counts.build_samples({}) if one.labels.get("kind") == "terminated") == 4
