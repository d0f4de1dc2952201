"""What a benchmark computes: shares, limits, comparisons."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.units import SECOND
from jsctl.bench.client import Pace
from jsctl.bench.compare import compare, find_regressions
from jsctl.bench.crew import find_server
from jsctl.bench.histogram import Histogram
from jsctl.bench.limits import find_limit
from jsctl.bench.meter import ClientResult, Meter, Outcome, ProcessResult, compute_rate, now
from jsctl.bench.plan import Plan
from jsctl.views.bench import result as view
from tests.support.run import Cli

MS = 1_000_000


@given(st.integers(1, 1000), st.integers(1, 20), st.integers(0, 5))
def test_clients_share_all_messages(messages: int, clients: int, warm_up: int) -> None:
    plan = Plan("js pub sync", messages=messages, clients=clients, warm_up=warm_up)
    shares = [plan.share(client) for client in range(clients)]
    assert sum(shares) == messages and max(shares) - min(shares) <= 1
    assert plan.total == messages + clients * warm_up
    ends = [plan.compute_offset(client) + plan.share(client) + warm_up for client in range(clients)]
    assert ends[:-1] == [plan.compute_offset(client) for client in range(1, clients)]
    everything = Plan("sub", messages=messages, clients=clients)
    assert everything.share(0) == messages and everything.total == messages * clients


def test_clients_are_in_one_process_each() -> None:
    teams = list(Plan("pub", clients=5, processes=2).iterate_teams())
    assert teams == [[0, 2, 4], [1, 3]]


def test_a_warm_up_is_not_measured() -> None:
    meter = Meter(0, 10)
    meter.begin()
    meter.add(6, 600)
    assert not meter.is_measuring
    meter.add_operation(now(), 4, 400)
    assert meter.result.messages == 0 and meter.is_measuring and not len(meter.latencies)
    meter.add_operation(now() - MS, 1, 50)
    assert (meter.result.messages, meter.result.bytes, meter.done) == (1, 50, 11)
    assert meter.latencies.smallest >= MS


def test_a_pace_counts_from_when_it_was_planned() -> None:
    pace = Pace(Plan("pub", rate=1000, clients=2))
    pace.start = now() - 100 * MS
    assert pace.interval == 2 * MS
    assert 50 <= pace.count_due(0, 1000) <= 60 and pace.count_due(0, 7) == 7
    assert pace.count_due(1000, 10) == 1


def outcome(cpu: float, server: float, messages: int = 1000, duration: int = 1000 * MS) -> Outcome:
    client = ClientResult(0, messages, messages * 100, now(), complete=True)
    client.ended = client.started + duration
    return Outcome([ProcessResult([client], int(cpu * duration))], server)


@pytest.mark.parametrize(
    ("plan", "measured", "by"),
    [
        (Plan("pub"), outcome(0.97, 0.3), "client"),
        (Plan("pub"), outcome(0.3, 1.2), "server"),
        (Plan("pub"), outcome(0.9, 1.2), "server"),
        (Plan("pub"), outcome(0.3, 0.3), "waiting"),
        (Plan("pub"), outcome(0.3, -1), "waiting"),
        (Plan("kv put"), outcome(0.3, 0.3), "round trips"),
        (Plan("pub", rate=1000), outcome(0.9, 0.1), "rate"),
        (Plan("pub", rate=5000), outcome(0.9, 0.1), "client"),
        (Plan("pub", sleep=5), outcome(0.9, 0.1), "pause"),
        (Plan("pub"), outcome(0.97, 0.3, duration=MS), "unknown"),
        (Plan("pub"), outcome(0.97, 0.3, messages=0), "unknown"),
    ],
)
def test_what_was_the_limit(plan: Plan, measured: Outcome, by: str) -> None:
    limit = find_limit(plan, measured)
    assert limit.by == by
    assert view.limit_text(limit, plan)


def document(rate: float, p50: int, **more: object) -> dict[str, object]:
    latency = {"mean_ns": p50, "max_ns": p50 * 10, "percentiles_ns": {"50": p50, "99": p50 * 5}}
    figures = {"messages": 10, "bytes": 20, "duration_ns": 5, "messages_per_second": rate}
    return {"bench": "pub", **figures, "bytes_per_second": rate * 2, "latency": latency, **more}


def test_comparing() -> None:
    comparison = compare(document(100, 50), document(80, 40))
    by_name = {one.measure: one for one in comparison.differences}
    assert by_name["Messages/s"].change == pytest.approx(-0.2) and by_name["Messages/s"].is_better is False
    assert by_name["Latency P50"].is_better is True and by_name["Messages"].is_better is None
    assert [one.measure for one in find_regressions(comparison, 0.1)] == ["Messages/s"]
    assert not find_regressions(comparison, 0.5)
    other = compare(
        document(100, 50, options={"clients": 1}), document(1, 1, options={"clients": 2}, bench="sub")
    )
    assert "the second bench sub" in other.warnings[0] and "clients" in other.warnings[1]
    assert compare(document(0, 50), document(80, 0)).differences[1].change is None


def test_comparing_files(offline_cli: Cli, tmp_path: Path) -> None:
    one, other = tmp_path / "a.json", tmp_path / "b.json"
    one.write_text(json.dumps(document(100, 50_000)))
    other.write_text(json.dumps(document(50, 50_000)))
    shown = offline_cli(["bench", "compare", str(one), str(other)], status=0).out
    assert "-50.0%" in shown and "50µs" in shown
    line = ["bench", "compare", str(one), str(other), "--tolerance"]
    assert "Worse by more than 10%: Messages/s" in offline_cli([*line, "10"], status=1).out
    assert offline_cli([*line, "60", "--json"], status=0).json[1]["second"] == 50
    other.write_text('{"bench": "pub"}')
    assert "not the result of a benchmark" in offline_cli([*line, "1"], status=64).err
    other.write_text("[")
    assert "is not JSON" in offline_cli([*line, "1"], status=64).err
    assert "No such file" in offline_cli(["bench", "compare", str(one), "nope"], status=64).err


def test_a_plot_is_as_wide_as_its_marks() -> None:
    histogram = Histogram()
    histogram.add_many(range(1000, 2_000_000, 100))
    chart = view.percentile_plot(histogram)
    assert len(chart.values) == 61 and chart.values[-1] == max(value or 0 for value in chart.values)
    assert len(chart.caption.splitlines()[0]) <= 65
    assert view.latency(123_456) == "123µs" and view.latency(999) == "999ns" and view.latency(0) == "0s"


def test_servers_elsewhere_are_not_looked_for() -> None:
    assert find_server("nats://example.com:4222") is None
    assert find_server("nats://127.0.0.1:1") is None


def test_nothing_in_no_time_is_no_rate() -> None:
    assert compute_rate(9, 0) == 0 and compute_rate(9, SECOND) == 9
