"""Services, their endpoints and statistics."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.base.json_text import parse_json
from jsctl.base.units import parse_time
from jsctl.services.statistics import Row
from jsctl.views.result import Cell, Column, Field, InfoPage, Result, Section, Table, Text, build_table

Json = dict[str, Any]

LIST = (
    Column("Name", "name"),
    Column("Version", "version"),
    Column("ID", "id"),
    Column("Description", "description", "prose", hideable=1),
)
PINGS = (Column("Name", "name"), Column("ID", "id"), Column("RTT", "rtt", "duration"))
STATS = (
    Column("ID", "id"),
    Column("Endpoint", "endpoint"),
    Column("Requests", "requests", "count"),
    Column("Queue Group", "queue_group", hideable=3),
    Column("Errors", "errors", "count", hideable=1),
    Column("Processing Time", "processing_time", "duration", hideable=2),
    Column("Average Time", "average_processing_time", "duration"),
)

_NOTHING = Cell(None, "-")
RATES = (
    Column("Service", "service"),
    Column("Endpoint", "endpoint"),
    Column("Instances", "instances", "count"),
    Column("Requests", "requests", "count", hideable=1),
    Column("Requests/s", "rate", "rate", read=lambda row: row.rate and round(row.rate, 1)),
    Column("Errors", "errors", "count", hideable=2),
    Column("Errors/s", "error_rate", "rate", hideable=1),
    Column(
        *("Average", "average", "duration"),
        read=lambda row: _NOTHING if row.average < 0 else row.average,
        hideable=3,
    ),
    Column("Skew", "skew", "number", read=lambda row: row.skew or _NOTHING, hideable=4),
)


def listing(infos: Sequence[Json]) -> Result:
    """Show the instances of services; the document is their infos."""
    if not infos:
        return Result([Text("No services answered")], data=[])
    rows = [
        (
            service_info["name"],
            service_info["version"],
            service_info["id"],
            service_info.get("description") or "",
        )
        for service_info in infos
    ]
    return Result([Table("All Services", LIST, rows)], data=list(infos))


def pings(rows: Sequence[tuple[str, str, int]]) -> Result:
    """Show who answered a ping. rows: name, instance and round-trip time in ns."""
    if not rows:
        return Result([Text("No services answered")], data=[])
    return Result([Table("Services", PINGS, rows)])


def info(infos: Sequence[Json], statistics: Sequence[Json], endpoint: re.Pattern[str]) -> Result:
    """Show the info page of each instance.

    statistics: those of the instances; one that sent none has none. endpoint: which endpoints are shown. The
    document has the first instance's info and statistics, as in `nats`; `instances` has all.
    """
    stats_by_id = {document["id"]: document for document in statistics}
    pairs = [
        (_select_endpoints(service, endpoint), _select_endpoints(stats_by_id.get(service["id"]), endpoint))
        for service in infos
    ]
    instances = [{"info": service, "stats": stats} for service, stats in pairs]
    parts = [_build_info_page(service, stats or {}) for service, stats in pairs if service]
    return Result(parts, data={**instances[0], "instances": instances})


def _select_endpoints(document: Json | None, endpoint: re.Pattern[str]) -> Json | None:
    if document is None:
        return None
    return {**document, "endpoints": [one for one in document["endpoints"] if endpoint.search(one["name"])]}


def _build_info_page(service: Json, stats: Json) -> InfoPage:
    counts = {one["name"]: one for one in stats.get("endpoints") or ()}
    basics = [
        Field("Service", f"{service['name']} ({service['id']})"),
        Field("Description", service.get("description") or ""),
        Field("Version", service["version"]),
    ]
    if stats.get("started"):
        basics.append(_build_start_field(stats["started"]))
    sections = [Section("", basics), *_build_metadata_sections("Metadata", service)]
    for endpoint in service["endpoints"]:
        fields = [
            Field("Name", endpoint["name"]),
            Field("Subject", endpoint.get("subject") or ""),
            Field("Queue Group", endpoint.get("queue_group") or ""),
            *_list_count_fields(counts.get(endpoint["name"])),
        ]
        sections += [
            Section(f"Endpoint {endpoint['name']}", fields),
            *_build_metadata_sections("", endpoint),
        ]
    return InfoPage("Service Information", sections)


def _build_start_field(started: str) -> Field:
    try:
        return Field("Started", parse_time(started), "time")
    except ValueError:  # a service sends what it likes
        return Field("Started", started)


def _list_count_fields(counts: Json | None) -> list[Field]:
    """Return the statistics of an endpoint; nothing without them."""
    if counts is None:
        return []
    fields = [
        Field("Requests", counts.get("num_requests") or 0, "count"),
        Field("Processing Time", counts.get("processing_time") or 0, "duration"),
        Field("Average Time", counts.get("average_processing_time") or 0, "duration"),
        Field("Errors", counts.get("num_errors") or 0, "count"),
    ]
    if counts.get("last_error"):
        fields.append(Field("Last Error", counts["last_error"]))
    if counts.get("data") is not None:
        fields.append(Field("Data", json.dumps(counts["data"], indent=2, ensure_ascii=False).split("\n")))
    return fields


def _build_metadata_sections(title: str, document: Json) -> list[Section]:
    """Return a section with the metadata of a service or endpoint; JSON in it, such as a schema, is
    indented.
    """
    metadata: Mapping[str, str] = document.get("metadata") or {}
    fields = [Field(key, _indent_json(value)) for key, value in sorted(metadata.items())]
    return [Section(title, fields)] if fields else []


def _indent_json(value: str) -> str | list[str]:
    if not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.dumps(parse_json(value), indent=2, ensure_ascii=False).split("\n")
    except ValueError:
        return value


def stats(name: str, documents: Sequence[Json]) -> Result:
    """Show the statistics of each instance; the document is their statistics."""
    rows = [
        (
            instance["id"],
            endpoint["name"],
            endpoint.get("num_requests") or 0,
            endpoint.get("queue_group") or "",
            endpoint.get("num_errors") or 0,
            endpoint.get("processing_time") or 0,
            endpoint.get("average_processing_time") or 0,
        )
        for instance in documents
        for endpoint in instance["endpoints"]
    ]
    return Result([Table(f"{name} Service Statistics", STATS, rows)], data=list(documents))


def rates(rows: Sequence[Row]) -> Result:
    """Show the rates of `service stats --watch`."""
    return Result([build_table("Service Statistics", RATES, rows)])
