"""`jsctl server check stream`, `consumer`, `kv`, `message` and `jetstream`."""

import time
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


def test_a_consumer(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    js.publish(url, "orders")
    cli("consumer add ORDERS WORK --pull --defaults", status=0)
    line = "consumer --stream ORDERS --consumer WORK"
    assert check(cli, f"{line} --unprocessed-critical 2")["ok"] == ["unprocessed messages 1"]
    assert check(cli, f"{line} --unprocessed-critical 1", 2)["critical"] == [
        "unprocessed messages 1, must be below 1"
    ]
    assert check(cli, f"{line} --unprocessed-critical 0")["ok"] == []
    assert check(cli, f"{line} --last-delivery-critical 1m", 2)["critical"] == ["last delivery never"]
    cli("consumer next ORDERS WORK --ack", status=0)
    outcome = check(cli, f"{line} --last-delivery-critical 1h --last-ack-critical 1m")
    measures = {measure["name"]: measure for measure in outcome["perf_data"]}
    assert (measures["last_delivery"]["critical"], measures["last_ack"]["critical"]) == (3600, 60)
    assert check(cli, f"{line} --last-delivery-critical 1us", 2)["critical"]


def test_pinned_groups(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    config: dict[str, Any] = {"durable_name": "P", "ack_policy": "explicit", "priority_groups": ["g"]}
    config |= {"priority_policy": "pinned_client", "priority_timeout": 10**10}
    js.ask(url, "CONSUMER.CREATE.ORDERS.P", {"stream_name": "ORDERS", "config": config})
    outcome = check(cli, "consumer --stream ORDERS --consumer P --pinned", 2)
    measures = {measure["name"]: measure["value"] for measure in outcome["perf_data"]}
    assert (measures["groups"], measures["pinned_groups"]) == (1, 0)


def test_an_account_and_a_bucket(cli: Cli) -> None:
    assert "memory_pct=0%;75;90" in cli("server check jetstream", status=0).out
    cli("kv add CONFIG", status=0)
    outcome = check(cli, "kv --bucket CONFIG --key ready", 2)
    assert (outcome["critical"], outcome["ok"]) == (["key ready not found"], ["bucket CONFIG"])
    assert [measure["name"] for measure in outcome["perf_data"]] == ["values", "bytes", "replicas"]
    cli("kv put CONFIG ready yes", status=0)
    assert check(cli, "kv --bucket CONFIG --key ready --values-critical 2")["status"] == "OK"
    assert check(cli, "kv --bucket CONFIG --values-critical 1", 2)["critical"] == [
        "values 1, must be below 1"
    ]
    # As in the nats tool, a threshold for warnings alone means that few values are bad.
    assert check(cli, "kv --bucket CONFIG --values-warn 1", 1)["warning"] == ["values 1, must be above 1"]
    assert check(cli, "kv --bucket CONFIG --values-warn 2 --values-critical 0", 1)["warning"]
    cli("kv del CONFIG ready -f", status=0)
    assert check(cli, "kv --bucket CONFIG --key ready", 2)["critical"] == ["key ready was deleted"]
    assert check(cli, "kv --bucket NONE", 2)["status"] == "CRITICAL"
    # All values count, as in `kv info` and the nats tool: older ones, and marks of deletion.
    cli("kv add HISTORY --history 5", status=0)
    for value in ("1", "2", "3"):
        cli(f"kv put HISTORY key {value}", status=0)
    cli("kv del HISTORY key -f", status=0)
    assert check(cli, "kv --bucket HISTORY --values-critical 4", 2)["critical"] == [
        "values 4, must be below 4"
    ]


def test_a_message(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    assert "no message" in str(check(cli, "message --stream ORDERS --subject orders", 2)["critical"])
    js.publish(url, "orders", b"")
    for line in ("", " --content ."):
        outcome = check(cli, f"message --stream ORDERS --subject orders{line}", 2)
        assert outcome["critical"] == ["the content does not match ."]
    js.publish(url, "orders", b"all good")
    assert check(cli, "message --stream ORDERS --subject orders")["ok"] == [
        "the message on ORDERS > orders is valid"
    ]
    assert check(cli, "message --stream ORDERS --age-critical 1h --content good")["status"] == "OK"
    assert check(cli, "message --stream ORDERS --content bad", 2)["critical"] == [
        "the content does not match bad"
    ]
    assert "not a valid regular expression" in str(
        check(cli, "message --stream ORDERS --content '('", 2)["critical"]
    )


def test_a_body_that_is_a_time_in_seconds(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    line = "message --stream ORDERS --subject orders --body-timestamp --age-warn 30s --age-critical 1h"
    for ago, status in ((1, 0), (60, 1), (7200, 2)):
        js.publish(url, "orders", b"%.3f" % (time.time() - ago))
        check(cli, line, status)


def test_jetstream(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    outcome = check(cli, "jetstream")
    assert (outcome["status"], outcome["ok"]) == ("OK", ["memory in percent 0", "storage in percent 0"])
    measures = {measure["name"]: measure for measure in outcome["perf_data"]}
    assert (measures["replicas_lagged"]["critical"], measures["replicas_not_seen"]["critical"]) == (200, 5)
    assert (measures["streams_pct"]["warning"], measures["streams_pct"]["critical"]) == (0, 0)
    wrong = check(cli, "jetstream --mem-warn 80 --mem-critical 70", 2)
    assert wrong["critical"] == ["memory in percent: the critical threshold is below the one for warnings"]
    assert " streams=1 " in cli("server check jetstream", status=0).out


def test_a_limit_that_is_not_a_size_is_refused_in_one_line(cli: Cli) -> None:
    assert len(cli("server check jetstream --mem-warn much", status=64).err.splitlines()) == 1
