"""The metrics of servers, as the system account sees them. No I/O.

With those of accounts they feed the dashboards of prometheus-nats-exporter. The totals of streams and
consumers come from accounts if there are any, as those count leaders only; the samples of servers are
there nevertheless, as the dashboards list servers by them.
"""

from collections.abc import Iterator, Mapping, Sequence

from jsctl.jetstream.api import Json
from jsctl.monitor.exporter.sample import Sample

HELP: Mapping[str, str] = {
    "jetstream_server_max_memory": "Memory that JetStream of the server may use in bytes",
    "jetstream_server_max_storage": "File storage that JetStream of the server may use in bytes",
    "gnatsd_varz_connections": "Connections of clients",
    "gnatsd_varz_subscriptions": "Subscriptions of the server",
    "gnatsd_varz_slow_consumers": "Connections that were closed because they read too slowly",
    "gnatsd_varz_cpu": "Processor time of the server, in percent of a core",
    "gnatsd_varz_mem": "Memory of the server in bytes",
    "gnatsd_varz_in_msgs": "Messages that the server has received",
    "gnatsd_varz_in_bytes": "Bytes that the server has received",
    "gnatsd_varz_out_msgs": "Messages that the server has sent",
    "gnatsd_varz_out_bytes": "Bytes that the server has sent",
    "gnatsd_varz_jetstream_config_max_memory": "Memory that JetStream of the server may use in bytes",
    "gnatsd_varz_jetstream_config_max_storage": "File storage that JetStream of the server may use in bytes",
    "gnatsd_varz_jetstream_stats_memory": "Memory that JetStream of the server uses in bytes",
    "gnatsd_varz_jetstream_stats_storage": "File storage that JetStream of the server uses in bytes",
}


_TOTALS = {"streams": "streams", "consumers": "consumers", "messages": "messages", "message_bytes": "bytes"}


def build_server_samples(
    replies: Sequence[Json], uses: Sequence[Json], context: str, with_totals: bool
) -> Iterator[Sample]:
    """Yield what servers report in answers to PING.STATSZ and PING.JSZ.

    with_totals: whether to report how many streams and consumers they hold, including replicas; 0 otherwise.
    """
    held = {(use.get("server") or {}).get("id"): use.get("data") or {} for use in uses}
    for reply in replies:
        server, stats = reply.get("server") or {}, reply.get("statsz") or {}
        jetstream = stats.get("jetstream") or {}
        config, used = jetstream.get("config") or {}, jetstream.get("stats") or {}
        meta = jetstream.get("meta") or {}
        name, leader = str(server.get("name", "")), str(meta.get("leader") or "")
        server_labels = {"context": context, "server_id": name, "server_name": name}
        labels = {
            **server_labels,
            "cluster": str(server.get("cluster") or ""),
            "domain": str(config.get("domain") or ""),
            "meta_leader": leader,
            "is_meta_leader": "true" if leader in ("", name) else "false",
        }
        received, sent = stats.get("received") or {}, stats.get("sent") or {}
        yield Sample("jetstream_server_jetstream_disabled", labels, float(not jetstream))
        if jetstream:
            yield Sample("jetstream_server_max_memory", labels, int(config.get("max_memory", 0)))
            yield Sample("jetstream_server_max_storage", labels, int(config.get("max_storage", 0)))
            totals = held.get(server.get("id"), {}) if with_totals else {}
            for word, key in _TOTALS.items():
                yield Sample(f"jetstream_server_total_{word}", labels, int(totals.get(key, 0)))
        values = {
            "connections": stats.get("connections"),
            "subscriptions": stats.get("subscriptions"),
            "slow_consumers": stats.get("slow_consumers"),
            "cpu": stats.get("cpu"),
            "mem": stats.get("mem"),
            "in_msgs": received.get("msgs"),
            "in_bytes": received.get("bytes"),
            "out_msgs": sent.get("msgs"),
            "out_bytes": sent.get("bytes"),
            "jetstream_config_max_memory": config.get("max_memory"),
            "jetstream_config_max_storage": config.get("max_storage"),
            "jetstream_stats_memory": used.get("memory"),
            "jetstream_stats_storage": used.get("storage"),
        }
        for key, value in values.items():
            if value is not None:
                yield Sample(f"gnatsd_varz_{key}", server_labels, float(value))
