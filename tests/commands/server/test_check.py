"""`server check`: statuses, thresholds and forms that monitoring systems read."""

import json
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf


def check(cli: Cli, line: str, status: int = 0) -> dict[str, object]:
    """The outcome as JSON."""
    document: dict[str, object] = cli(f"server check --format json {line}", status=status).json
    return document


def test_a_connection(cli: Cli) -> None:
    out = cli("server check connection", status=0).out
    assert out.startswith("OK Connection OK:connected in ")
    assert ";0.5000;1.0000 rtt=" in out
    assert check(cli, "connection --rtt-warn 1us", 1)["status"] == "WARNING"
    assert check(cli, "connection --rtt-critical 1us", 2)["status"] == "CRITICAL"


def test_no_server_is_critical(offline_cli: Cli) -> None:
    out = offline_cli("server check connection -s nats://127.0.0.1:9", status=2).out
    assert out.startswith("CRITICAL Connection Crit:cannot connect")
    assert len(out.splitlines()) == 1


def test_a_stream(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>", metadata={"io.nats.monitor.msgs-critical": "3"})
    for number in range(2):
        js.publish(url, f"orders.{number}")
    assert check(cli, "stream --stream ORDERS", 2)["critical"] == ["messages 2, at least 3"]
    assert check(cli, "stream --stream ORDERS --msgs-critical 2")["ok"] == ["messages 2"]
    assert check(cli, "stream --stream ORDERS --msgs-critical 2 --subjects-warn 1", 1)["warning"] == [
        "subjects 2, at most 1"
    ]
    assert (
        "CRITICAL NONE Crit:stream NONE not found" in cli("server check stream --stream NONE", status=2).out
    )
    js.stream(url, "COPY", mirror={"name": "ORDERS"})
    assert check(cli, "stream --stream COPY --lag-critical 100 --peer-expect 3", 2)["critical"]


def test_a_consumer(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    js.publish(url, "orders")
    cli("consumer add ORDERS WORK --pull --defaults", status=0)
    line = "consumer --stream ORDERS --consumer WORK"
    assert check(cli, f"{line} --unprocessed-critical 1")["ok"] == ["unprocessed messages 1"]
    assert check(cli, f"{line} --unprocessed-critical 0", 2)["critical"] == [
        "unprocessed messages 1, at most 0"
    ]
    assert check(cli, f"{line} --last-delivery-critical 1m", 2)["critical"] == ["last delivery never"]


def test_a_message(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    assert "no message" in str(check(cli, "message --stream ORDERS --subject orders", 2)["critical"])
    js.publish(url, "orders", b"all good")
    assert check(cli, "message --stream ORDERS --age-critical 1h --content good")["status"] == "OK"
    assert check(cli, "message --stream ORDERS --content bad", 2)["critical"] == [
        "the content does not match bad"
    ]
    assert "not a regular expression" in str(
        check(cli, "message --stream ORDERS --content '('", 2)["critical"]
    )


def test_an_account_and_a_bucket(cli: Cli) -> None:
    assert "memory_pct=0%;75;90" in cli("server check jetstream", status=0).out
    cli("kv add CONFIG", status=0)
    assert check(cli, "kv --bucket CONFIG --key ready", 2)["critical"] == [
        "key ready not found in bucket CONFIG (10037); jsctl kv ls CONFIG lists the keys"
    ]
    cli("kv put CONFIG ready yes", status=0)
    assert check(cli, "kv --bucket CONFIG --key ready --values-critical 1")["status"] == "OK"
    assert check(cli, "kv --bucket NONE", 2)["status"] == "CRITICAL"


def test_a_server(tmp_path: Path, hub_leaf: HubLeaf) -> None:
    system = Cli(tmp_path / "system", hub_leaf.system_url)
    outcome = check(system, "server --name leaf-server --auth-required --js-required --uptime-critical 0s")
    assert outcome["ok"] and outcome["check_name"] == "leaf-server"
    assert check(system, "server --tls-required", 2)["critical"] == ["TLS is off"]
    assert check(system, "server --conn-warn 10000 --conn-critical 5000", 2)["status"] == "CRITICAL"
    assert "are not clustered" in str(check(system, "meta --expect 3", 2)["critical"])


def test_a_request(cli: Cli) -> None:
    assert "nobody answers" in str(check(cli, "request --subject nobody", 2)["critical"])


def test_a_credential(cli: Cli, tmp_path: Path) -> None:
    from jsctl.auth.jwt import encode_jwt
    from jsctl.auth.keys import USER, create_key
    from jsctl.auth.store import format_creds

    key = create_key(USER)
    path = tmp_path / "u.creds"
    for expires, line, status in (
        ({}, "", 2),
        ({}, "--no-require-expiry", 0),
        ({"exp": 4_000_000_000}, "--validity-critical 1d", 0),
        ({"exp": 4_000_000_000}, "--validity-warn 87600h --validity-critical 1d", 0),
        ({"exp": 1_000_000_000}, "", 2),
    ):
        token = encode_jwt({"sub": key.public, "name": "u", "nats": {"type": "user"}, **expires}, key)
        path.write_text(format_creds(token, key.seed))
        check(cli, f"credential --credential {path} {line}", status)
    path.write_text("nothing")
    assert "is not a credentials file" in str(check(cli, f"credential --credential {path}", 2)["critical"])


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


@pytest.mark.parametrize("line", ["server check stream", "server check request --subject x -H y"])
def test_wrong_lines(cli: Cli, line: str) -> None:
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
