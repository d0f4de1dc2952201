"""`incident`: bursts, and problems of which there are several of one kind."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.units import SECOND, format_rfc3339
from jsctl.monitor.alerts.conditions import Row
from jsctl.monitor.incident.advised import merge_advised, parse_advised
from jsctl.monitor.incident.changes import Change as Incident
from jsctl.monitor.incident.changes import PlaceView
from jsctl.monitor.incident.pace import PaceFinder
from jsctl.monitor.incident.servers import ServerFinder
from jsctl.monitor.incident.story import Story
from tests.support import js
from tests.support.rounds import Change, with_lag, write_rounds
from tests.support.run import Cli
from tests.support.servers import Cluster


def test_a_burst_comes_before_the_lag_that_it_leaves(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": {"durable_name": "C"}})
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)

    def stored(messages: int) -> Change:
        def change(place: dict[str, Any]) -> None:
            place["overview"]["streams"][0] |= {"messages": messages, "last_seq": messages}
            with_lag(max(0, messages - 200))(place)

        return change

    counts = [0, 10, 20, 30, 40, 50, 60, 5060, 9060, 9070]
    file = write_rounds(tmp_path / "real", tmp_path / "rounds", [stored(count) for count in counts])
    document = cli(f"incident --from {file} --json", status=0).json
    [burst] = [one for one in document["changes"] if one["kind"] == "burst"]
    assert burst["says"] == "stored 5,000 messages within 1s, at most 10 a second before"
    assert burst["at"][17:19] == "07" and document["first"] == burst


def view(last_seq: int, created: str = "t") -> PlaceView:
    values = {"offline": None, "last_seq": last_seq, "bytes": 0, "created": created}
    return PlaceView("c", "", "", {("stream", "S"): Row(("stream", "S"), "c: stream S", values)}, {}, {})


@given(st.integers(0, 5_000), st.lists(st.integers(1, 9), min_size=5, max_size=40), st.booleans())
def test_what_is_published_as_before_is_no_burst(rate: int, seconds: list[int], is_recreated: bool) -> None:
    """Whatever the time between two rounds; nor is a stream that was created again."""
    finder, at, sequence = PaceFinder(), 0, 0
    found: list[object] = []
    for span in seconds:
        at += span
        sequence += span * rate
        found += finder.find(view(sequence), at * SECOND)
    if is_recreated:
        found += finder.find(view(sequence + 10**6, "later"), (at + 1) * SECOND)
        found += finder.find(view(sequence + 2 * 10**6, "later"), (at + 2) * SECOND)
    assert not found


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=60),
    st.integers(min_value=0, max_value=9),
)
def test_a_stream_is_quiet_from_its_first_round_without_messages(counts: list[int], quiet: int) -> None:
    """After six rounds with some and four without; it is said once, and when some are stored again."""
    finder, sequence, found = PaceFinder(), 0, list[tuple[str, int]]()
    counts = [0, *counts, *[1] * 6, *[0] * quiet, 1]
    for number, count in enumerate(counts):
        sequence += count
        found += [(one.kind, one.at // SECOND) for one in finder.find(view(sequence), number * SECOND)]
    expected = []
    for number in range(len(counts)):
        run = counts[number : number + 4]
        if number > 6 and run == [0] * 4 and all(counts[number - 6 : number]):
            expected.append(("quiet", number))
            end = next(later for later in range(number, len(counts)) if counts[later])
            expected.append(("quiet ended", end))
    assert found == expected


@given(
    st.lists(st.integers(1, 9), min_size=5, max_size=40),
    st.lists(st.integers(60, 900), max_size=9),
    st.integers(1, 9),
)
def test_a_server_that_answers_slowly_is_told_from_its_first_slow_round(
    before: list[int], slow: list[int], after: int
) -> None:
    """After three of them, and once it is as before; milliseconds."""
    finder, found = ServerFinder(), list[tuple[str, int]]()
    rows: dict[tuple[str, ...], Row] = {("server", "n1"): Row(("server", "n1"), "c: server n1", {})}
    for number, rtt in enumerate([*before, *slow, after]):
        seen = PlaceView("c", "", "", rows, {}, {}, statistics={"n1": {"rtt": rtt * 1_000_000}})
        found += [(one.kind, one.at // SECOND) for one in finder.find(seen, number * SECOND)]
    first, end = len(before), len(before) + len(slow)
    expected = [("slow answers", first), ("slow answers ended", end)]
    assert found == (expected if len(slow) >= 3 else [])


def test_rounds_have_the_time_of_each_answer(cli: Cli, system_url: str, tmp_path: Path) -> None:
    cli(["report", "--record", str(tmp_path / "real"), "--count", "1", "--server", system_url], status=0)

    def answered(seconds: float) -> Change:
        def change(place: dict[str, Any]) -> None:
            for reply in place["servers"]["statistics"]:
                assert 0 < reply["rtt"] < 60 * SECOND
                reply["rtt"] = int(seconds * SECOND)

        return change

    rounds = [*map(answered, [0.002] * 6 + [0.8, 0.7, 0.8])]
    file = write_rounds(tmp_path / "real", tmp_path / "rounds", rounds)
    first = cli(f"incident --from {file} --json", status=0).json["first"]
    assert (first["kind"], first["at"][17:19]) == ("slow answers", "06")
    assert first["says"] == "answers after 700ms, 2ms before"


def test_a_stream_that_became_quiet_is_not_the_first_change(cli: Cli, url: str, tmp_path: Path) -> None:
    """All may have been published; it is told in its place among the others."""
    js.stream(url, "ORDERS", "orders.>")
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)

    def stored(messages: int, leader: str) -> Change:
        def change(place: dict[str, Any]) -> None:
            place["overview"]["streams"][0] |= {"last_seq": messages, "messages": messages, "leader": leader}

        return change

    rounds = [*((10 * number, "n1") for number in range(12)), *[(110, "n1")] * 6, (110, "n2"), (110, "n2")]
    file = write_rounds(tmp_path / "real", tmp_path / "rounds", [stored(*one) for one in rounds])
    document = cli(f"incident --from {file} --json", status=0).json
    assert [(one["kind"], one["at"][17:19], one["says"]) for one in document["changes"]] == [
        ("quiet", "12", "stores no messages any more, 10.0 a second before"),
        ("leader changed", "18", "leader n1, now n2"),
    ]
    assert document["first"]["kind"] == "leader changed"


def test_each_limit_and_each_replica_is_a_problem_of_its_own(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)

    def away(max_streams: int, *words: str) -> Change:
        def change(place: dict[str, Any]) -> None:
            limits = {"max_streams": max_streams, "max_storage": 1_000}
            place["overview"]["account"] |= {"storage": 950, "streams": 1}
            place["overview"]["account"]["limits"] |= limits
            place["overview"]["troubles"] = {
                "ORDERS": [[one, True, "REPLICA_OFFLINE", "", [], ""] for one in words]
            }

        return change

    rounds = [
        away(-1, "replica n2 offline"),
        away(1, "replica n2 not seen for 9s", "replica n3 offline"),
        away(1, "replica n3 not seen for 12s"),
    ]
    file = write_rounds(tmp_path / "real", tmp_path / "rounds", rounds)
    changes = cli(f"incident --from {file} --json", status=0).json["changes"]
    said = {(one["at"][18:19], one["says"]) for one in changes if one["kind"].startswith("problem")}
    assert said == {
        ("0", "95% of the account's file storage"),
        ("0", "replica n2 offline"),
        ("1", "100% of the account's streams"),
        ("1", "replica n3 offline"),
        ("2", "ended: replica n2 not seen for 9s"),
    }


@pytest.mark.cluster
def test_what_was_asked_for_comes_before_what_it_did(cli: Cli, cluster: Cluster, tmp_path: Path) -> None:
    """Fewer replicas move a stream at the same instant; a lower limit is no purge; consumers go with their
    stream."""
    js.stream(cluster.url, "ORDERS", "orders.>", num_replicas=3)
    js.ask(
        *(cluster.url, "CONSUMER.CREATE.ORDERS.C"),
        {"stream_name": "ORDERS", "config": {"durable_name": "C", "ack_policy": "explicit"}},
    )
    js.publish(cluster.url, "orders.1", count=50)
    rec = tmp_path / "rec"
    process = cli.start(
        f"report --record {rec} --watch 300ms --json --count 20 -s {cluster.url}", stderr=subprocess.DEVNULL
    )
    assert process.stdout
    for change in ({"num_replicas": 1}, {"max_msgs": 3}):
        process.stdout.readline()
        process.stdout.readline()
        config = js.info(cluster.url, "ORDERS")["config"]
        js.ask(cluster.url, "STREAM.UPDATE.ORDERS", {**config, **change})
    process.stdout.readline()
    process.stdout.readline()
    js.ask(cluster.url, "STREAM.DELETE.ORDERS")
    process.communicate()
    document = cli(f"incident --from {rec} --json", status=0).json
    away = re.compile("gone|was removed")  # the latter if a round had the stream without its consumer
    gone = [one["name"].partition(": ")[2] for one in document["changes"] if away.search(one["says"])]
    assert gone == ["stream ORDERS", "consumer ORDERS > C"], document["changes"]
    assert document["first"]["says"].startswith("replicas 3, now 1"), document["changes"]
    [shrank] = [one for one in document["changes"] if one["kind"] == "purged"]
    assert shrank["says"] == "shrank: 50 messages before, 3 now"


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_replica_that_is_behind_for_a_moment_is_ordinary(
    cli: Cli, url: str, tmp_path: Path, rounds: int
) -> None:
    """It is told, and is not the first change; one that stays behind is."""
    js.stream(url, "ORDERS", "orders.>")
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)

    def with_peers(*peers: str) -> Change:
        def change(place: dict[str, Any]) -> None:
            place["overview"]["streams"][0] |= {"leader": "n1", "peers": list(peers)}
            words = [one.rstrip("!") for one in peers if one.endswith("!")]
            troubles = [[f"replica {one} outdated", False, "REPLICA_BEHIND", "", [], ""] for one in words]
            place["overview"]["troubles"] = {"ORDERS": troubles} if troubles else {}

        return change

    well, behind = with_peers("n2", "n3"), with_peers("n2", "n3!")
    last = with_peers("n2", "n4")
    sequence = [well, well, *[behind] * rounds, well, well, last, last]
    file = write_rounds(tmp_path / "real", tmp_path / "rounds", sequence)
    document = cli(f"incident --from {file} --json", status=0).json
    told = [one for one in document["changes"] if one["kind"] == "replicas"]
    assert ["follower n3 is" in one["says"] for one in told] == [True, True, False]
    if rounds < 3:
        assert document["first"]["says"] == "followers n2, n3, now n2, n4" and not document["began"]
    else:
        assert document["first"]["says"] == "follower n3 is offline or behind"


def test_consumers_through_which_jsctl_reads_are_no_change(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    for name in ("C", "jsctl_ow6M7Ddj"):
        config = {"durable_name": name, "ack_policy": "explicit"}
        js.ask(url, f"CONSUMER.CREATE.ORDERS.{name}", {"stream_name": "ORDERS", "config": config})
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)

    def remove(place: dict[str, Any]) -> None:
        place["overview"]["consumers"] = []

    file = write_rounds(tmp_path / "real", tmp_path / "rounds", [lambda place: None, remove])
    changes = cli(f"incident --from {file} --json", status=0).json["changes"]
    assert [one["name"].partition(": ")[2] for one in changes if one["kind"] == "gone"] == [
        "consumer ORDERS > C"
    ]


@pytest.mark.slow
def test_a_consumer_that_is_reset(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    config = {"durable_name": "C", "ack_policy": "explicit"}
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": config})
    js.publish(url, "orders.1", count=5)
    cli("consumer next ORDERS C --count 5 --ack", status=0)
    rec = tmp_path / "rec"
    process = cli.start(f"report --record {rec} --watch 200ms --json --count 8", stderr=subprocess.DEVNULL)
    assert process.stdout
    process.stdout.readline()
    process.stdout.readline()
    js.ask(url, "CONSUMER.RESET.ORDERS.C", {"seq": 3})
    process.communicate()
    first = cli(f"incident --from {rec} --json", status=0).json["first"]
    assert (first["kind"], first["says"]) == ("went back", "went back: acknowledged up to 5 before, 2 now")


@pytest.mark.parametrize(
    ("delivered", "replicas", "says"),
    [
        ((7, "2026-11-29T10:00:00Z"), 1, ""),
        ((9, "2026-11-29T10:00:05Z"), 1, ""),
        ((0, None), 1, "went back: 7 deliveries before, 0 since then"),
        ((5, "2026-11-29T10:00:05Z"), 1, "went back: 7 deliveries before, 5 since then"),
        ((7, "2026-11-29T10:00:05Z"), 1, "went back: 7 deliveries before, 7 since then"),
        ((7, None), 1, ""),  # a server that was started has forgotten when
        ((7, "2026-11-29T10:00:05Z"), 3, ""),  # the others do not know the count yet
    ],
)
def test_a_consumer_that_was_reset_and_caught_up_between_two_rounds(
    cli: Cli, url: str, tmp_path: Path, delivered: tuple[int, str | None], replicas: int, says: str
) -> None:
    """It has delivered since, and no more than before by its count, which begins again."""
    js.stream(url, "ORDERS", "orders.>")
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": {"durable_name": "C"}})
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)

    def read(count: int, last: str | None) -> Change:
        def change(place: dict[str, Any]) -> None:
            position = {"consumer_seq": count, "stream_seq": 7, **({"last_active": last} if last else {})}
            consumer = place["overview"]["consumers"][0]
            consumer |= {"delivered": position, "ack_floor": position}
            others = [{"name": f"n{one}", "current": True, "active": 0} for one in range(1, replicas)]
            consumer["cluster"] = {"name": "C", "leader": "n0", "replicas": others}

        return change

    rounds = [read(7, "2026-11-29T10:00:00Z"), read(*delivered)]
    file = write_rounds(tmp_path / "real", tmp_path / "rounds", rounds)
    document = cli(f"incident --from {file} --json", status=0).json
    assert [one["says"] for one in document["changes"] if one["kind"] == "went back"] == [says] * bool(says)


def test_a_burst_of_a_copy_comes_after_that_of_its_origin(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.stream(url, "COPY", mirror={"name": "ORDERS"})
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)

    def stored(messages: int) -> Change:
        def change(place: dict[str, Any]) -> None:
            for stream in place["overview"]["streams"]:
                stream |= {"messages": messages, "last_seq": messages}

        return change

    file = write_rounds(tmp_path / "real", tmp_path / "rounds", [*map(stored, [0] * 7), stored(5_000)])
    changes = cli(f"incident --from {file} --json", status=0).json["changes"]
    names = [one["name"].rpartition(" ")[2] for one in changes if one["kind"] == "burst"]
    assert names == ["ORDERS", "COPY"]


def connected(total: int) -> PlaceView:
    statistics = {"n1": {"start": "t", "connections": 2, "total_connections": total}}
    return PlaceView("c", "", "", {}, {}, {}, statistics)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ([0] * 6 + [150] + [0] * 9, ["150 new connections within 1s, none in the rounds before; 2 are open"]),
        ([0] * 6 + [3] * 12, ["9 new connections within 3s, none in the rounds before; 2 are open"]),
        ([0] * 6 + [1, 0] * 6, []),
        ([0, 150] + [0] * 9, []),  # too little is known of before
    ],
)
def test_clients_that_connect_again_and_again(new: list[int], expected: list[str]) -> None:
    finder, total = ServerFinder(), 0
    found: list[str] = []
    for number, count in enumerate(new):
        total += count
        found += [one.says for one in finder.find(connected(total), number * SECOND)]
    assert found == expected


@given(
    st.integers(0, 100),
    st.lists(st.integers(-20, 20), min_size=8, max_size=40),
    st.integers(0, 1_000),
)
def test_as_many_new_connections_as_before_are_no_change(usual: int, more: list[int], burst: int) -> None:
    """And five times as many are one, once."""
    finder, total, found = ServerFinder(), 0, list[object]()
    counts = [usual + usual * each // 100 for each in more]
    for number, count in enumerate(counts):
        total += count
        found += finder.find(connected(total), number * SECOND)
    assert not found
    total += usual * 20 + burst
    for number in range(len(counts), len(counts) + 9):
        found += finder.find(connected(total), number * SECOND)
        total += usual
    assert len(found) == bool(usual * 20 + burst >= 8)


def test_consumers_of_a_copy_go_with_the_stream_that_is_created_again() -> None:
    """Servers remove them just before, and make others."""
    at, facts = 100 * SECOND, {"stream": "S", "consumer": "JS_MIRROR_a-b", "action": "delete"}
    times = dict.fromkeys(("at", "received"), format_rfc3339(at - 1))
    advised = parse_advised(
        {"kind": "consumer_action", "count": 1, "facts": facts, **times}, "c", "", at - 9, at + 9
    )
    assert advised.says == "was removed, by a server: a mirror reads through it"
    change = Incident(at, at - 9, "recreated", "bad", "c", "", "c: stream S", "was removed and created again")
    assert [one.name for one in merge_advised([change], [advised], {})] == [change.name, advised.name]
    late = change._replace(at=at + SECOND, after=at)
    story = Story(0, 1, 2, merge_advised([late], [advised], {}), [], [], {})
    assert story.changes[0].name == advised.name and story.first == late


def test_a_recording_that_a_newer_jsctl_continued(cli: Cli, url: str, tmp_path: Path) -> None:
    """What older rounds lack of a stream's settings has not changed."""
    js.stream(url, "ORDERS", "orders.>", max_age=3_600 * SECOND, allow_rollup_hdrs=True)
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": {"durable_name": "C"}})
    cli(f"report --record {tmp_path / 'real'} --count 1", status=0)

    def older(place: dict[str, Any]) -> None:
        del place["overview"]["settings"]

    file = write_rounds(tmp_path / "real", tmp_path / "rounds", [older, older, lambda place: None])
    changes = cli(f"incident --from {file} --json", status=0).json["changes"]
    assert not [one for one in changes if one["kind"] == "configuration"]
