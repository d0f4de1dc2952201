"""`jsctl exporter`, as a Prometheus reads it."""

import gzip
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for, wait_until

Samples = dict[str, list[tuple[dict[str, str], float]]]


def parse(text: str) -> Samples:
    """What Prometheus sees: labels and values by metric. Fails for the same series twice."""
    parsed: Samples = {}
    seen = set()
    for family in text_string_to_metric_families(text):
        assert family.documentation, family.name
        for sample in family.samples:
            key = sample.name, tuple(sorted(sample.labels.items()))
            assert key not in seen, key
            seen.add(key)
            parsed.setdefault(sample.name, []).append((sample.labels, sample.value))
    return parsed


def once(cli: Cli, more: str = "", status: int = 0) -> Samples:
    """The metrics after one round."""
    text = cli(f"exporter --textfile - --count 1 {more}", status=status).out
    return parse(text)


def value(samples: Samples, metric: str, **labels: str) -> float:
    """The only value of a metric with these labels."""
    values = [
        number for own, number in samples.get(metric, ()) if all(own.get(k) == v for k, v in labels.items())
    ]
    assert len(values) == 1, (metric, labels, values)
    return values[0]


def consumer(url: str, stream: str, name: str, **config: Any) -> None:
    body = {"stream_name": stream, "config": {"name": name, "ack_policy": "explicit", **config}}
    js.ask(url, f"CONSUMER.CREATE.{stream}.{name}", body)


@pytest.fixture
def filled(cli: Cli, url: str) -> Cli:
    """With a stream of three messages, its mirror, two sources of the same name, and four consumers."""
    js.stream(url, "ORDERS", "orders.>", max_msgs=100, max_bytes=1_000_000, storage="memory")
    js.publish(url, "orders.1", b"12345", count=3)
    js.stream(url, "COPY", mirror={"name": "ORDERS"})
    sources = [{"name": "ORDERS", "filter_subject": f"orders.{number}"} for number in (1, 2)]
    js.stream(url, "BOTH", sources=sources)
    consumer(url, "ORDERS", "DURABLE", durable_name="DURABLE", description='a "b"\\')
    for name in ("e1", "e2"):
        consumer(url, "ORDERS", name, inactive_threshold=60_000_000_000)
    wait_for(lambda: js.info(url, "COPY")["state"]["messages"] == 3, "the mirror has everything")
    wait_for(lambda: js.info(url, "BOTH")["state"]["messages"] == 3, "the sources have everything")
    wait_for(lambda: js.info(url, "ORDERS")["state"]["messages"] == 3, "all messages are stored")
    return cli


def test_the_names_of_the_exporter_that_dashboards_know(filled: Cli) -> None:
    samples = once(filled)
    stream = {"stream_name": "ORDERS"}
    assert value(samples, "jetstream_stream_total_messages", **stream) == 3
    assert value(samples, "jetstream_stream_last_seq", **stream) == 3
    assert value(samples, "jetstream_stream_limit_messages", **stream) == 100
    assert value(samples, "jetstream_stream_limit_bytes", **stream) == 1_000_000
    assert value(samples, "jetstream_stream_limit_bytes", stream_name="COPY") == -1
    assert value(samples, "jetstream_stream_consumer_count", **stream) >= 3
    durable = {**stream, "consumer_name": "DURABLE"}
    assert value(samples, "jetstream_consumer_num_pending", **durable) == 3
    assert value(samples, "jetstream_consumer_delivered_consumer_seq", **durable) == 0
    labels = samples["jetstream_consumer_num_pending"][0][0]
    assert labels["consumer_desc"] == 'a "b"\\' and labels["is_consumer_leader"] == "true"
    assert value(samples, "jetstream_stream_mirror_lag", stream_name="COPY", mirror_name="ORDERS") == 0
    server = samples["jetstream_server_total_streams"][0]
    assert server[1] == 3 and server[0]["server_id"] == labels["server_id"]
    assert value(samples, "jetstream_server_total_consumers") >= 3
    assert value(samples, "jetstream_account_storage_used") > 0


def test_ephemeral_consumers_are_counted_as_one(filled: Cli) -> None:
    samples = once(filled)
    names = {own["consumer_name"] for own, _ in samples["jetstream_consumer_num_pending"]}
    assert names == {"DURABLE", "(ephemeral)"}
    assert (
        value(samples, "jetstream_consumer_num_pending", consumer_name="(ephemeral)", stream_name="ORDERS")
        >= 6
    )
    assert not [own for own, _ in samples.get("jsctl_problem", ()) if "e1" in own["name"]]


def test_sources_of_one_name_are_distinct(filled: Cli) -> None:
    lags = once(filled)["jetstream_stream_source_lag"]
    assert sorted(own["source_filter"].split()[0] for own, _ in lags) == ["orders.1", "orders.2"]


def test_what_nobody_exports(filled: Cli, tmp_path: Path) -> None:
    filled(f"exporter --textfile {tmp_path}/two.prom --count 2 --interval 300ms", status=0)
    samples = parse((tmp_path / "two.prom").read_text())
    assert value(samples, "jsctl_up") == 1
    assert value(samples, "jsctl_stream_used_ratio", stream_name="ORDERS") == pytest.approx(0.03)
    assert value(samples, "jsctl_stream_growth_bytes_per_second", stream_name="ORDERS") == 0
    assert value(samples, "jsctl_stream_idle_seconds", stream_name="ORDERS") >= 0
    assert value(samples, "jsctl_stream_first_timestamp_seconds", stream_name="ORDERS") > 1.7e9
    assert value(samples, "jsctl_replication_failed", stream_name="COPY", kind="mirror") == 0
    assert value(samples, "jsctl_problem", name="ORDERS > DURABLE", kind="consumer") == 1
    assert value(samples, "jsctl_problems", level="bad") >= 1


def test_one_set_of_names(filled: Cli) -> None:
    for names in ("jetstream", "jsctl"):
        samples = once(filled, f"--names {names}")
        assert samples and all(metric.startswith(f"{names}_") for metric in samples)
    some = once(filled, "--stream COPY --no-consumers")
    assert len(some["jetstream_stream_total_messages"]) == 1 and "jetstream_consumer_num_pending" not in some


def test_several_contexts_of_which_one_is_down(filled: Cli, url: str) -> None:
    filled(f"context add up --server {url}", status=0)
    filled("context add down --server nats://127.0.0.1:1", status=0)
    filled.environ.pop("NATS_URL")
    outcome = filled("exporter --textfile - --count 1 --context up --context down", status=4)
    samples = parse(outcome.out)
    assert value(samples, "jsctl_up", context="up") == 1 and value(samples, "jsctl_up", context="down") == 0
    assert value(samples, "jetstream_stream_total_messages", stream_name="ORDERS", context="up") == 3
    assert len([line for line in outcome.err.splitlines() if "down" in line]) == 1


def test_a_file_is_replaced_as_a_whole(filled: Cli, tmp_path: Path) -> None:
    target = tmp_path / "jetstream.prom"
    target.write_text("old")
    outcome = filled(f"exporter --textfile {target} --count 1", status=0)
    assert not outcome.out and "Metrics on" not in outcome.err
    assert value(parse(target.read_text()), "jetstream_stream_total_messages", stream_name="ORDERS") == 3
    assert [path.name for path in tmp_path.iterdir() if "jetstream" in path.name] == ["jetstream.prom"]
    assert "does not exist" in filled(f"exporter --textfile {tmp_path}/no/x.prom --count 1", status=64).err


@pytest.fixture
def running(filled: Cli) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """An exporter, and its port."""
    process = filled.start("exporter --listen 127.0.0.1:0 --interval 200ms")
    assert process.stderr
    announced = re.search(r"127\.0\.0\.1, port (\d+)", process.stderr.readline())
    assert announced
    yield process, int(announced[1])
    process.kill()
    process.communicate()


def scrape(port: int, path: str = "/metrics", method: str = "GET") -> tuple[int, str, str]:
    """Status, kind and body of an answer."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, response.headers["Content-Type"], response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, "", ""


def test_scrapes(running: tuple[subprocess.Popen[str], int], url: str) -> None:
    process, port = running
    # A round in which the server did not answer within the interval has no streams.
    _, kind, text = wait_until(lambda: scrape(port), lambda answer: 'stream_name="ORDERS"' in answer[2])
    assert kind.startswith("text/plain; version=0.0.4")
    assert value(parse(text), "jetstream_stream_total_messages", stream_name="ORDERS") == 3
    js.publish(url, "orders.9")
    wait_until(lambda: parse(scrape(port)[2]).get("jetstream_stream_last_seq", []), _has_four)
    assert scrape(port, "/")[0] == 200 and scrape(port, "/nothing")[0] == 404
    assert scrape(port, method="POST")[0] == 405 and scrape(port, method="HEAD")[2] == ""
    for encoding, is_packed in (("deflate, gzip", True), ("gzip;q=0, br", False)):
        headers = {"Accept-Encoding": encoding}
        request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=headers)
        with urllib.request.urlopen(request, timeout=5) as response:
            assert (response.headers["Content-Encoding"] == "gzip") == is_packed
            body = response.read()
        assert b'stream_name="ORDERS"' in (gzip.decompress(body) if is_packed else body)
    with socket.create_connection(("127.0.0.1", port), timeout=5) as raw:
        raw.sendall(b"nonsense\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 400 ")
    stalled = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    stalled[0].sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
    stalled[1].sendall(b"GET /met")
    assert scrape(port)[0] == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    for client in stalled:
        client.close()


def _has_four(series: list[tuple[dict[str, str], float]]) -> bool:
    return any(labels["stream_name"] == "ORDERS" and number == 4 for labels, number in series)


def test_wrong_input(cli: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        err = cli(f"exporter --listen 127.0.0.1:{port} --count 1", status=1).err
    assert "cannot listen on" in err and "choose another address with --listen" in err
    for line in ("--listen here", "--listen 127.0.0.1:99999", "--interval 1ms"):
        assert len(cli(f"exporter --count 1 {line}", status=64).err.splitlines()) == 1


@pytest.mark.cluster
def test_leaders_count_and_replicas_are_seen(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    for name in ("R3A", "R3B"):
        js.ask_patiently(
            shared_cluster.url, f"STREAM.CREATE.{name}", {"name": name, "subjects": [name], "num_replicas": 3}
        )
    wait_for(lambda: js.info(shared_cluster.url, "R3A")["cluster"].get("leader"), "the stream has a leader")
    samples = once(cluster_cli, "--stream R3?")
    assert sum(number for _, number in samples["jetstream_server_total_streams"]) == 2
    leader = samples["jetstream_stream_total_messages"][0][0]["stream_leader"]
    replicas = {
        own["replica"] for own, _ in samples["jsctl_stream_replica_lag"] if own["stream_name"] == "R3A"
    }
    assert len(replicas) == 2 and leader
    assert all(own["server_id"] == own["stream_leader"] for own, _ in samples["jetstream_stream_last_seq"])


def test_a_short_interval_is_named_by_its_flag(offline_cli: Cli) -> None:
    assert "--interval must be 100ms or more" in offline_cli("exporter --interval 0 --count 1", status=64).err
