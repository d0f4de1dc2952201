"""`jsctl exporter` beside prometheus-nats-exporter: what its dashboards ask for, and its own metrics.

The names and labels are those of prometheus-nats-exporter 0.20 (collector/jsz.go and the dashboards of its
walkthrough). Its `server_id` is whatever it was started with, an address by default and the server's name
with `-use_internal_server_name`; ours is the name, as an account knows no more.
"""

import pytest

from tests.commands.exporter.test_exporter import Samples, consumer, parse, value
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster

DASHBOARDS = {
    # grafana-jetstream-dash.json, with the login of an account
    "jetstream_server_total_streams": {"server_id"},
    "jetstream_server_total_consumers": {"server_id"},
    "jetstream_stream_total_bytes": {"stream_name"},
    "jetstream_stream_total_messages": {"stream_name"},
    "jetstream_stream_last_seq": {"server_id", "stream_name"},
    "jetstream_consumer_num_pending": {"server_id", "stream_name", "consumer_name"},
    "jetstream_consumer_num_ack_pending": {"server_id", "stream_name", "consumer_name"},
    "jetstream_consumer_delivered_consumer_seq": {"server_id", "stream_name", "consumer_name"},
    # the same, with that of the system account
    "gnatsd_varz_connections": {"server_id"},
    "gnatsd_varz_jetstream_config_max_memory": {"server_id"},
    "gnatsd_varz_jetstream_config_max_storage": {"server_id"},
    "gnatsd_varz_jetstream_stats_memory": {"server_id"},
    "gnatsd_varz_jetstream_stats_storage": {"server_id"},
    # grafana-nats-dash.json
    "gnatsd_varz_cpu": {"server_id"},
    "gnatsd_varz_mem": {"server_id"},
    "gnatsd_varz_in_bytes": {"server_id"},
    "gnatsd_varz_in_msgs": {"server_id"},
    "gnatsd_varz_out_bytes": {"server_id"},
    "gnatsd_varz_out_msgs": {"server_id"},
    "gnatsd_varz_slow_consumers": {"server_id"},
    "gnatsd_varz_subscriptions": {"server_id"},
}
"""What panels and variables select and sum by."""

# An account does not know the meta group's leader; a label without a value is none in Prometheus.
SERVER = {"server_id", "server_name", "cluster", "domain"}
META = {"meta_leader", "is_meta_leader"}
ACCOUNT = {"account", "account_name", "account_id"}
STREAM = SERVER | ACCOUNT | {"stream_name", "stream_leader", "is_stream_leader", "stream_raft_group"}
CONSUMER = STREAM | {"consumer_name", "consumer_leader", "is_consumer_leader", "consumer_desc"}
SOURCE = STREAM | {"source_name", "source_api", "source_deliver"}
MIRROR = STREAM | {"mirror_name", "mirror_api", "mirror_deliver"}
COLLECTOR = {
    "jetstream_server_jetstream_disabled": SERVER,
    "jetstream_server_total_streams": SERVER,
    "jetstream_server_total_consumers": SERVER,
    "jetstream_server_total_messages": SERVER,
    "jetstream_server_total_message_bytes": SERVER,
    "jetstream_server_max_memory": SERVER | META,
    "jetstream_server_max_storage": SERVER | META,
    "jetstream_account_max_memory": ACCOUNT,
    "jetstream_account_max_storage": ACCOUNT,
    "jetstream_account_memory_used": ACCOUNT,
    "jetstream_account_storage_used": ACCOUNT,
    "jetstream_stream_total_messages": STREAM,
    "jetstream_stream_limit_messages": STREAM,
    "jetstream_stream_total_bytes": STREAM,
    "jetstream_stream_limit_bytes": STREAM,
    "jetstream_stream_first_seq": STREAM,
    "jetstream_stream_last_seq": STREAM,
    "jetstream_stream_consumer_count": STREAM,
    "jetstream_stream_subject_count": STREAM,
    "jetstream_stream_source_lag": SOURCE,
    "jetstream_stream_source_active_duration_ns": SOURCE,
    "jetstream_stream_mirror_lag": MIRROR,
    "jetstream_stream_mirror_active_duration_ns": MIRROR,
    "jetstream_consumer_delivered_consumer_seq": CONSUMER,
    "jetstream_consumer_delivered_stream_seq": CONSUMER,
    "jetstream_consumer_last_delivery_seconds": CONSUMER,
    "jetstream_consumer_last_ack_seconds": CONSUMER,
    "jetstream_consumer_num_ack_pending": CONSUMER,
    "jetstream_consumer_num_redelivered": CONSUMER,
    "jetstream_consumer_num_waiting": CONSUMER,
    "jetstream_consumer_num_pending": CONSUMER,
    "jetstream_consumer_ack_floor_stream_seq": CONSUMER,
    "jetstream_consumer_ack_floor_consumer_seq": CONSUMER,
}
"""Every metric of its JetStream collector."""


@pytest.fixture
def samples(cluster_cli: Cli, shared_cluster: Cluster) -> Samples:
    """What is exported of a stream of three replicas, a mirror, two sources and consumers, and of the
    servers."""
    url = shared_cluster.url
    external = {"api": "$JS.away.API", "deliver": "d"}
    for config in (
        {"name": "ORDERS", "subjects": ["orders.>"]},
        {"name": "COPY", "mirror": {"name": "ORDERS", "external": external}},
        {"name": "BOTH", "sources": [{"name": "ORDERS", "external": external}]},
    ):
        js.ask_patiently(url, f"STREAM.CREATE.{config['name']}", {**config, "num_replicas": 3})
    js.publish(url, "orders.new", b"12345", count=3)
    consumer(url, "ORDERS", "WORK", durable_name="WORK", description="works", num_replicas=3)
    wait_for(lambda: js.info(url, "ORDERS")["state"]["messages"] == 3, "all messages are stored")
    cluster_cli("consumer next ORDERS WORK --ack", status=0)
    cluster_cli(f"context add acc --server {url}", status=0)
    cluster_cli(f"context add sys --server {shared_cluster.system_url}", status=0)
    return parse(cluster_cli("exporter --textfile - --count 1 --context acc --context sys", status=0).out)


def test_what_dashboards_ask_for(samples: Samples) -> None:
    for metric, labels in DASHBOARDS.items():
        for own, _ in samples.get(metric, [({}, 0.0)]):
            assert labels <= own.keys(), metric
    # A `$server` that is chosen among those of streams selects the servers' own figures, too.
    [server] = (
        {own["server_id"] for own, _ in samples["jetstream_stream_last_seq"]}
        & {own["server_id"] for own, _ in samples["gnatsd_varz_connections"]}
        & {value_of["stream_leader"] for value_of, _ in samples["jetstream_consumer_num_pending"]}
    )
    assert value(samples, "gnatsd_varz_jetstream_config_max_storage", server_id=server) > 0
    assert len(samples["gnatsd_varz_mem"]) == 3
    # All servers can be chosen, also one that leads nothing.
    every = {own["server_id"] for own, _ in samples["gnatsd_varz_mem"]}
    assert {own["server_id"] for own, _ in samples["jetstream_server_total_streams"]} == every


def test_the_system_account_alone(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    """The servers' own figures, with every copy, as of prometheus-nats-exporter; with the names that the
    dashboards of its Helm chart ask for."""
    js.ask_patiently(shared_cluster.url, "STREAM.CREATE.ORDERS", {"name": "ORDERS", "num_replicas": 3})
    line = f"exporter --textfile - --count 1 --prefix nats --server {shared_cluster.system_url}"

    def held() -> list[float]:
        found = parse(cluster_cli(line, status=0).out)
        assert not any(metric.startswith(("gnatsd_", "jetstream_")) for metric in found)
        assert len(found["nats_varz_mem"]) == 3
        return [number for _, number in found["nats_server_total_streams"]]

    wait_for(lambda: len(held()) == 3 and all(held()), "every server holds a copy")
    assert "not a valid prefix" in cluster_cli("exporter --prefix a.b --count 1", status=64).err


def test_the_metrics_of_the_collector(samples: Samples) -> None:
    ours = {metric for metric in samples if metric.startswith("jetstream_")}
    assert ours == COLLECTOR.keys()
    for metric, labels in COLLECTOR.items():
        found: set[str] = set()
        for own, _ in samples[metric]:
            found |= own.keys()
        # The servers of this cluster have no domain.
        assert labels - {"domain"} <= found, metric
    assert {own["is_meta_leader"] for own, _ in samples["jetstream_server_max_memory"]} == {"true", "false"}


def test_only_leaders_count(samples: Samples) -> None:
    """Three replicas of a stream are one series, so that sums are right."""
    assert value(samples, "jetstream_stream_total_messages", stream_name="ORDERS") == 3
    assert value(samples, "jetstream_consumer_num_pending", consumer_name="WORK") == 2
    assert value(samples, "jetstream_consumer_ack_floor_stream_seq", consumer_name="WORK") == 1
    assert sum(number for _, number in samples["jetstream_server_total_streams"]) == 3
    leads = [own for own, _ in samples["jetstream_stream_last_seq"] if own["stream_name"] == "ORDERS"]
    assert leads[0]["server_id"] == leads[0]["stream_leader"]
