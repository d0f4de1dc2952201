"""`server info`, `server ping` and `server account info`."""

from collections.abc import Sequence
from typing import Any

from jsctl.monitor.server.reports import parse_span
from jsctl.units import MS, parse_time, pluralize
from jsctl.views.result import Column, Field, Result, Section, Sheet, Table, Text

Json = dict[str, Any]

_PING = (Column("Server", "server"), Column("RTT", "rtt", "duration"))
_PING_ID = (*_PING[:1], Column("ID", "id"), *_PING[1:])


def server(reply: Json) -> Result:
    """Show a server. reply: with VARZ."""
    about, data = reply["server"], reply["data"]
    cluster, jetstream = data.get("cluster") or {}, data.get("jetstream") or {}
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
                Field("Memory", data.get("mem", 0), "bytes"),
                Field("CPU %", data.get("cpu", 0), "number"),
                Field("Cores", data.get("cores", 0), "number"),
            ],
        ),
        Section(
            "Connection Details",
            [
                Field("Auth Required", bool(data.get("auth_required")), "bool"),
                Field("TLS Required", bool(data.get("tls_required")), "bool"),
                Field("Host", f"{data.get('host', '')}:{data.get('port', 0)}"),
                Field("Client URLs", list(data.get("connect_urls") or [])),
                Field("Connections", data.get("connections", 0), "count"),
                Field("Subscriptions", data.get("subscriptions", 0), "count"),
                Field("Slow Consumers", data.get("slow_consumers", 0), "count"),
                Field("Maximum Connections", data.get("max_connections", 0), "count"),
                Field("Maximum Payload", data.get("max_payload", 0), "bytes"),
            ],
        ),
    ]
    if cluster.get("name"):
        sections.append(
            Section(
                "Cluster",
                [
                    Field("Name", cluster["name"]),
                    Field("Tags", list(about.get("tags") or [])),
                    Field("URLs", list(cluster.get("urls") or [])),
                    Field("Routes", data.get("routes", 0), "count"),
                    Field("Leaf Nodes", data.get("leafnodes", 0), "count"),
                ],
            )
        )
    if jetstream.get("config"):
        sections.append(_build_jetstream_section(about, jetstream))
    heading = f"Server information for {about['name']} ({about['id']})"
    return Result([Sheet(heading, sections)], data=data)


def _build_jetstream_section(about: Json, jetstream: Json) -> Section:
    config, stats = jetstream["config"], jetstream.get("stats") or {}
    return Section(
        "JetStream",
        [
            Field("Domain", about.get("domain", "")),
            Field("API Support Level", (stats.get("api") or {}).get("level", 0), "number"),
            Field("Storage Directory", config.get("store_dir", "")),
            Field("Maximum Memory", config.get("max_memory", 0), "bytes"),
            Field("Maximum Storage", config.get("max_storage", 0), "bytes"),
            Field("Active Accounts", stats.get("accounts", 0), "count"),
            Field("Memory In Use", stats.get("memory", 0), "bytes"),
            Field("File In Use", stats.get("storage", 0), "bytes"),
            Field("API Requests", (stats.get("api") or {}).get("total", 0), "count"),
            Field("API Errors", (stats.get("api") or {}).get("errors", 0), "count"),
        ],
    )


def ping(answers: Sequence[tuple[Json, int]], *, with_ids: bool) -> Result:
    """Show how fast each server answered. answers: with round-trip times in ns."""
    columns = _PING_ID if with_ids else _PING
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
    return Result([Sheet(heading, [item for item in sections if item.fields])], data=detail)


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
