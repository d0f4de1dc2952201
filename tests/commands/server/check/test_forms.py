"""The forms in which `server check` tells its outcome to monitoring systems."""

import json
from pathlib import Path

import pytest

from jsctl.monitor.check.outcome import Check
from jsctl.views.result import Text
from jsctl.views.server import check as view
from tests.support import js
from tests.support.checks import check
from tests.support.run import Cli


def test_forms(cli: Cli, tmp_path: Path) -> None:
    out = cli("server check --format prometheus --namespace ours jetstream", status=0).out
    gone = cli("server check stream --stream NONE --format prometheus", status=0).out
    assert 'nats_server_check_stream_status_code{item="NONE",status="CRITICAL"} 2' in gone
    after = cli("server check jetstream --format prometheus --namespace ours", status=0).out
    assert [line.split()[0] for line in after.splitlines()] == [line.split()[0] for line in out.splitlines()]
    assert '# TYPE ours_jetstream_streams gauge\nours_jetstream_streams{item="JetStream"} 0' in out
    assert 'ours_jetstream_status_code{item="JetStream",status="OK"} 0' in out
    assert "Check Metrics" in cli("server check --format text jetstream", tty=True, width=80, status=0).out
    file = tmp_path / "out.prom"
    assert cli(f"server check --outfile {file} --format prometheus jetstream", status=0).out == ""
    assert "nats_server_check_jetstream_status_code" in file.read_text()
    assert json.loads(cli("server check jetstream --json", status=0).out)["status"] == "OK"


def test_large_numbers_are_exact(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    line = "stream --stream ORDERS --msgs-warn 123456789"
    assert check(cli, line, 1)["warning"] == ["messages 0, must be above 123,456,789"]
    outcome = Check("server", "n1")
    outcome.report("mem", 123_456_789, "memory")
    (shown,) = view.check(outcome, "prometheus", "nats").parts
    assert isinstance(shown, Text) and 'nats_server_mem{item="n1"} 123456789\n' in shown.text


@pytest.mark.parametrize("line", ["server check stream", "server check request --subject x -H y"])
def test_wrong_command_lines(cli: Cli, line: str) -> None:
    assert len(cli(line, status=64).err.splitlines()) == 1


def test_the_names_of_metrics_are_those_of_the_nats_tool(cli: Cli, url: str) -> None:
    """Alerts and dashboards know them."""
    js.stream(url, "ORDERS", "orders")
    js.publish(url, "orders")
    body = {"stream_name": "ORDERS", "config": {"durable_name": "C", "ack_policy": "explicit"}}
    js.ask(url, "CONSUMER.CREATE.ORDERS.C", body)
    js.stream(url, "KV_B", "$KV.B.>", max_msgs_per_subject=1, allow_rollup_hdrs=True)
    replicas = {
        f"replicas_{one}" for one in ("ok", "no_leader", "missing_replicas", "lagged", "not_seen", "fail")
    }
    for line, suite, names in (
        ("connection", "connections", {"connect_time", "rtt", "request_time"}),
        ("stream --stream ORDERS", "stream", {"messages", "sources"}),
        (
            "consumer --stream ORDERS --consumer C",
            "consumer",
            {"ack_pending", "pull_waiting", "pending", "redelivered"},
        ),
        ("message --stream ORDERS --subject orders", "message", {"age", "size"}),
        ("jetstream", "jetstream", {"memory", "storage_pct", "streams", "consumers_pct", *replicas}),
        ("kv --bucket B", "kv", {"values", "bytes", "replicas"}),
    ):
        outcome = check(cli, line)
        assert outcome["check_suite"] == suite
        measures = outcome["perf_data"]
        assert isinstance(measures, list)
        assert names <= {one["name"] for one in measures}, line
