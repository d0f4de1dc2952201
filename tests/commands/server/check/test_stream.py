"""`server check stream`."""

from typing import Any

from tests.support import js
from tests.support.checks import check
from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_a_stream(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>", metadata={"io.nats.monitor.msgs-critical": "3"})
    for number in range(2):
        js.publish(url, f"orders.{number}")
    assert check(cli, "stream --stream ORDERS", 2)["critical"] == ["messages 2, must be above 3"]
    assert check(cli, "stream --stream ORDERS --msgs-critical 1")["ok"] == ["0 sources", "messages 2"]
    assert check(cli, "stream --stream ORDERS --msgs-critical 2", 2)["critical"]
    line = "stream --stream ORDERS --msgs-critical 1 --subjects-warn"
    assert check(cli, f"{line} 2 --subjects-critical 3", 1)["warning"] == ["subjects 2, must be below 2"]
    assert check(cli, f"{line} 2 --subjects-critical 1", 1)["warning"] == ["subjects 2, must be above 2"]
    assert check(cli, f"{line} 3 --subjects-critical 2", 2)["critical"] == ["subjects 2, must be above 2"]
    assert check(cli, f"{line} 1")["status"] == "OK"
    assert (
        "CRITICAL NONE Crit:stream NONE not found" in cli("server check stream --stream NONE", status=2).out
    )
    js.stream(url, "COPY", mirror={"name": "ORDERS"})
    assert check(cli, "stream --stream COPY --lag-critical 100 --peer-expect 3", 2)["critical"]


def get_measures(outcome: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {measure["name"]: measure for measure in outcome["perf_data"]}


def test_origins(cli: Cli, url: str) -> None:
    """Each number has a name of its own, and its thresholds; none is 0."""
    for name in ("A", "B"):
        js.stream(url, name, name.lower())
        js.publish(url, name.lower())
    js.stream(url, "COPY", mirror={"name": "A"})
    js.stream(url, "ALL", sources=[{"name": "A"}, {"name": "B"}, {"name": "A", "filter_subject": "a"}])

    def count_messages(name: str) -> int:
        return int(js.ask(url, f"STREAM.INFO.{name}")["state"]["messages"])

    wait_for(lambda: (count_messages("COPY"), count_messages("ALL")) == (1, 3), "the copies")
    outcome = check(cli, "stream --stream COPY --lag-critical 5 --seen-critical 1m")
    measures = get_measures(outcome)
    assert (measures["lag"]["value"], measures["lag"]["critical"], measures["lag"]["warning"]) == (0, 5, 0)
    assert 0 <= measures["active"]["value"] < 60 and measures["active"]["critical"] == 60
    assert outcome["ok"][0] == "0 sources"
    outcome = check(cli, "stream --stream ALL --lag-critical 5 --min-sources 2 --max-sources 3")
    measures = get_measures(outcome)
    assert (
        measures["sources"]["value"],
        measures["sources"]["warning"],
        measures["sources"]["critical"],
    ) == (3, 2, 3)
    assert measures["sources_lagged"]["value"] == measures["sources_inactive"]["value"] == 0
    assert {"lag_A", "lag_B", "lag_A_2", "active_A", "active_B", "active_A_2"} <= set(measures)
    prometheus = cli("server check --format prometheus stream --stream ALL", status=0).out
    assert "nats_server_check_stream_lag_A_2{" in prometheus
    assert check(cli, "stream --stream ALL --min-sources 4", 2)["critical"] == [
        "3 sources, expected 4 to inf"
    ]
    assert check(cli, "stream --stream A --lag-critical 5", 2)["critical"] == [
        "it has neither a mirror nor sources"
    ]
