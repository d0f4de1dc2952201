"""`server info`, `server ping` and `server account info`."""

from collections.abc import Sequence

from jsctl.base.units import MS, SECOND, parse_time, pluralize
from jsctl.monitor.server.reports import Json, parse_span
from jsctl.views.result import Column, Field, InfoPage, Result, Section, Table, Text

_PING = (Column("Server", "server"), Column("RTT", "rtt", "duration"))
PING_ID = (*_PING[:1], Column("ID", "id"), *_PING[1:])

_OPEN_BATCHES, _ALL_OPEN_BATCHES = "max_batch_inflight_per_stream", "max_batch_inflight_total"


def server(reply: Json) -> Result:
    """Show a server. reply: with VARZ."""
    about, data = reply["server"], reply["data"]
    ip = f" ({data['ip']})" if data.get("ip") else ""
    sections = [
        Section(
            "Process Details",
            [
                Field("Version", data.get("version", "")),
                Field("Git Commit", data.get("git_commit", "")),
                Field("Go Version", data.get("go", "")),
                Field("Start Time", parse_time(data["start"]), "time"),
                Field("Configuration Load Time", parse_time(data["config_load_time"]), "time"),
                Field("Configuration Digest", data.get("config_digest", "")),
                Field("Uptime", parse_span(data.get("uptime")), "duration"),
            ],
        ),
        Section(
            "Connection Details",
            [
                Field("Auth Required", bool(data.get("auth_required")), "bool"),
                Field("TLS Required", bool(data.get("tls_required")), "bool"),
                Field("Host", _format_address(data, "host", "port") + ip),
                Field("Client URLs", list(data.get("connect_urls") or [])),
                *_list_if(Field("WebSocket URLs", list(data.get("ws_connect_urls") or []))),
            ],
        ),
        Section(
            "Limits",
            [
                Field("Maximum Connections", data.get("max_connections", 0), "count"),
                Field("Maximum Subscriptions", data.get("max_subscriptions", 0), "limit"),
                Field("Maximum Payload", data.get("max_payload", 0), "bytes"),
                Field("TLS Timeout", int(data.get("tls_timeout", 0) * SECOND), "span"),
                Field("Write Deadline", data.get("write_deadline", 0), "span"),
            ],
        ),
        Section(
            "Statistics",
            [
                Field("Cores", data.get("cores", 0), "number"),
                Field("CPU %", data.get("cpu", 0), "number"),
                *_list_if(Field("GOMAXPROCS", data.get("gomaxprocs", 0), "number")),
                Field("Memory", data.get("mem", 0), "bytes"),
                *_list_if(Field("GOMEMLIMIT", data.get("gomemlimit", 0), "bytes")),
                Field("Connections", data.get("connections", 0), "count"),
                Field("Subscriptions", data.get("subscriptions", 0), "count"),
                Field("Messages In", data.get("in_msgs", 0), "count"),
                Field("Messages Out", data.get("out_msgs", 0), "count"),
                Field("Bytes In", data.get("in_bytes", 0), "bytes"),
                Field("Bytes Out", data.get("out_bytes", 0), "bytes"),
                Field("Slow Consumers", data.get("slow_consumers", 0), "count"),
            ],
        ),
        *_list_groups(about, data),
    ]
    heading = f"Server information for {about['name']} ({about['id']})"
    return Result([InfoPage(heading, sections)], data=data)


def _list_if(field: Field) -> list[Field]:
    """Return a field that has a value."""
    return [field] if field.value else []


def _format_address(data: Json, host: str, port: str) -> str:
    return f"{data.get(host, '')}:{data.get(port, 0)}"


def _list_groups(about: Json, data: Json) -> list[Section]:
    """Return the sections of the server's cluster, gateways and JetStream, if it has them."""
    cluster, gateway = data.get("cluster") or {}, data.get("gateway") or {}
    sections = []
    if cluster.get("name"):
        fields = [
            Field("Name", cluster["name"]),
            Field("Tags", list(about.get("tags") or [])),
            Field("Host", _format_address(cluster, "addr", "cluster_port")),
            Field("URLs", list(cluster.get("urls") or [])),
            Field("Routes", data.get("routes", 0), "count"),
            Field("Leaf Nodes", data.get("leafnodes", 0), "count"),
        ]
        sections.append(Section("Cluster", fields))
    if remotes := gateway.get("gateways"):
        fields = [
            Field("Name", gateway.get("name", "")),
            Field("Host", _format_address(gateway, "host", "port")),
            Field("Clusters", sorted(str(remote.get("name", "")) for remote in remotes)),
        ]
        sections.append(Section("Super Cluster", fields))
    jetstream = data.get("jetstream") or {}
    if jetstream.get("config"):
        sections.append(_build_jetstream_section(about, jetstream))
    return sections


def _build_jetstream_section(about: Json, jetstream: Json) -> Section:
    config, stats, limits = jetstream["config"], jetstream.get("stats") or {}, jetstream.get("limits") or {}
    api = stats.get("api") or {}
    return Section(
        "JetStream",
        [
            Field("Domain", config.get("domain") or about.get("domain", "")),
            Field("API Support Level", api.get("level", 0), "number"),
            Field("Storage Directory", config.get("store_dir", "")),
            Field("Active Accounts", stats.get("accounts", 0), "count"),
            Field("HA Assets", stats.get("ha_assets", 0), "count"),
            Field("Memory In Use", stats.get("memory", 0), "bytes"),
            Field("File In Use", stats.get("storage", 0), "bytes"),
            Field("Memory Reserved", stats.get("reserved_memory", 0), "bytes"),
            Field("File Reserved", stats.get("reserved_storage", 0), "bytes"),
            Field("API Requests", api.get("total", 0), "count"),
            Field("API Errors", api.get("errors", 0), "count"),
            Field("Always Sync Writes", bool(config.get("sync_always")), "bool"),
            Field("Sync Interval", config.get("sync_interval", 0), "span"),
            Field("Maximum Memory", config.get("max_memory", 0), "bytes"),
            Field("Maximum Storage", config.get("max_storage", 0), "bytes"),
            *_list_if(Field("Unique Tag", config.get("unique_tag", ""))),
            Field("Cluster Message Compression", bool(config.get("compress_ok")), "bool"),
            Field("Maximum HA Assets", limits.get("max_ha_assets", 0), "limit"),
            Field("Maximum Ack Pending", limits.get("max_ack_pending", 0), "limit"),
            Field("Maximum Request Batch", limits.get("max_request_batch", 0), "limit"),
            Field("Maximum Duplicate Window", limits.get("max_duplicate_window", 0), "span_limit"),
            *_list_if(Field("Maximum Messages Per Batch", limits.get("max_batch_size", 0), "count")),
            *_list_if(Field("Maximum Batch Timeout", limits.get("max_batch_timeout", 0), "span")),
            *_list_if(Field("Maximum Open Batches Per Stream", limits.get(_OPEN_BATCHES, 0), "count")),
            *_list_if(Field("Maximum Open Batches Per Server", limits.get(_ALL_OPEN_BATCHES, 0), "count")),
            Field("Strict API Parsing", bool(config.get("strict")), "bool"),
        ],
    )


def ping(answers: Sequence[tuple[Json, int]], *, with_ids: bool) -> Result:
    """Show how fast each server answered. answers: with round-trip times in ns."""
    columns = PING_ID if with_ids else _PING
    rows = []
    for reply, rtt in answers:
        about = reply["server"]
        rows.append((about["name"], about["id"], rtt) if with_ids else (about["name"], rtt))
    times = [rtt for _, rtt in answers]
    summary = (
        f"{pluralize(len(times), 'reply')}, max: {max(times) / MS:.2f}ms, min: {min(times) / MS:.2f}ms,"
        f" avg: {sum(times) / len(times) / MS:.2f}ms"
    )
    data = [
        {"server": reply["server"]["name"], "id": reply["server"]["id"], "rtt_ns": rtt}
        for reply, rtt in answers
    ]
    return Result([Table("Servers", columns, rows), Text(summary)], data=data)


def account(detail: Json) -> Result:
    """Show what a server knows of an account."""
    claim = detail.get("decoded_jwt") or {}
    sections = [
        Section(
            "Details",
            [
                Field("Complete", bool(detail.get("complete")), "bool"),
                Field("Expired", bool(detail.get("expired")), "bool"),
                Field("System Account", bool(detail.get("is_system")), "bool"),
                Field("Updated", parse_time(detail["update_time"]), "time"),
                Field("JetStream", bool(detail.get("jetstream_enabled")), "bool"),
                Field("Leaf Nodes", detail.get("leafnode_connections", 0), "count"),
                Field("Clients", detail.get("client_connections", 0), "count"),
                Field("Subscriptions", detail.get("subscriptions", 0), "count"),
                Field("Issuer", detail.get("issuer_key", "")),
                Field("Tag", detail.get("name_tag", "") or claim.get("name", "")),
                Field("Tags", list((claim.get("nats") or {}).get("tags") or [])),
            ],
        ),
        Section(
            "Mappings",
            [
                Field(source, [_format_destination(item) for item in destinations])
                for source, destinations in (detail.get("mappings") or {}).items()
            ],
        ),
        Section(
            "Imports",
            [Field(item.get("type", "import"), _import(item)) for item in detail.get("imports") or ()],
        ),
        Section(
            "Exports",
            [Field(item.get("type", "export"), _export(item)) for item in detail.get("exports") or ()],
        ),
    ]
    heading = f"Account information for account {detail.get('account_name', '')}"
    return Result([InfoPage(heading, [item for item in sections if item.fields])], data=detail)


def _format_destination(destination: Json) -> str:
    weight = f", {destination['weight']}%" if destination.get("weight") not in (None, 100) else ""
    cluster = f", in cluster {destination['cluster']}" if destination.get("cluster") else ""
    return f"to {destination.get('subject') or destination.get('dest', '')}{weight}{cluster}"


def _import(claim: Json) -> str:
    local = claim.get("local_subject") or claim.get("subject", "")
    return f"{local} from {claim.get('subject', '')} of account {claim.get('account', '')}"


def _export(claim: Json) -> str:
    private = ", needs an activation token" if claim.get("token_req") else ""
    response = f", {claim['response_type']}" if claim.get("response_type") else ""
    return f"{claim.get('subject', '')}{response}{private}"
