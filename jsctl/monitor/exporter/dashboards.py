"""Dashboards of Grafana and alert rules of Prometheus over the metrics of the exporter, as texts of files. No
I/O."""

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

from jsctl.monitor.exporter.metrics import HELP

_PLACE = '{context=~"$context",domain=~"$domain"}'
_BY, _PLACE_NAME = "context, domain", "{{context}} {{domain}}"
_STREAM = '{context=~"$context",domain=~"$domain",stream_name=~"$stream"}'


class Panel(NamedTuple):
    """A panel. unit: of Grafana. queries: expressions and the legend of each. kind: of Grafana. width: of 24
    columns."""

    title: str
    unit: str
    queries: Sequence[tuple[str, str]]
    kind: str = "timeseries"
    width: int = 12


_OVERVIEW = (
    Panel("Places that answer", "short", [(f"sum(jsctl_up{_PLACE})", "")], "stat", 4),
    Panel(
        "Places that do not answer", "short", [(f"count(jsctl_up{_PLACE} == 0) or vector(0)", "")], "stat", 4
    ),
    Panel("Broken", "short", [('sum(jsctl_problems{level="bad",' + _PLACE[1:] + ")", "")], "stat", 4),
    Panel("To watch", "short", [('sum(jsctl_problems{level="warning",' + _PLACE[1:] + ")", "")], "stat", 4),
    Panel("Not checked", "short", [(f"sum(jsctl_not_checked{_PLACE})", "")], "stat", 4),
    Panel("Largest lag", "short", [(f"max(jetstream_consumer_num_pending{_PLACE})", "")], "stat", 4),
    Panel("Problems", "short", [(f"jsctl_problem{_PLACE}", "{{kind}} {{name}}: {{problem}}")], "table", 24),
    Panel(
        "Messages stored per second",
        "short",
        [
            (
                f"sum by (context, domain) (jsctl_stream_stored_messages_per_second{_PLACE})",
                "{{context}} {{domain}}",
            )
        ],
    ),
    Panel(
        "Bytes in streams",
        "bytes",
        [(f"sum by ({_BY}) (jetstream_stream_total_bytes{_PLACE})", _PLACE_NAME)],
    ),
    Panel(
        "Storage used by accounts",
        "bytes",
        [
            (f"jetstream_account_storage_used{_PLACE}", "{{account}} files"),
            (f"jetstream_account_memory_used{_PLACE}", "{{account}} memory"),
        ],
    ),
    Panel(
        "Errors of the JetStream API per second",
        "short",
        [(f"rate(jsctl_account_api_errors{_PLACE}[5m])", "{{context}} {{domain}} {{account}}")],
    ),
    Panel("Processor time of servers", "percent", [("gnatsd_varz_cpu", "{{server_name}}")]),
    Panel("Memory of servers", "bytes", [("gnatsd_varz_mem", "{{server_name}}")]),
)
_STREAMS = (
    Panel("Messages", "short", [(f"jetstream_stream_total_messages{_STREAM}", "{{domain}} {{stream_name}}")]),
    Panel(
        "Stored per second",
        "short",
        [(f"jsctl_stream_stored_messages_per_second{_STREAM}", "{{domain}} {{stream_name}}")],
    ),
    Panel("How full", "percentunit", [(f"jsctl_stream_used_ratio{_STREAM}", "{{domain}} {{stream_name}}")]),
    Panel("Time until full", "s", [(f"jsctl_stream_full_seconds{_STREAM}", "{{domain}} {{stream_name}}")]),
    Panel(
        "Lag of consumers",
        "short",
        [(f"jetstream_consumer_num_pending{_STREAM}", "{{stream_name}} > {{consumer_name}}")],
    ),
    Panel(
        "Not acknowledged",
        "short",
        [(f"jetstream_consumer_num_ack_pending{_STREAM}", "{{stream_name}} > {{consumer_name}}")],
    ),
    Panel(
        "Delivered per second",
        "short",
        [(f"jsctl_consumer_delivered_messages_per_second{_STREAM}", "{{stream_name}} > {{consumer_name}}")],
    ),
    Panel(
        "Time until nothing is left to deliver",
        "s",
        [(f"jsctl_consumer_drain_seconds{_STREAM}", "{{stream_name}} > {{consumer_name}}")],
    ),
    Panel(
        "Lag of mirrors and sources",
        "short",
        [
            (f"jetstream_stream_mirror_lag{_STREAM}", "{{stream_name}} of {{mirror_name}}"),
            (f"jetstream_stream_source_lag{_STREAM}", "{{stream_name}} of {{source_name}}"),
        ],
    ),
    Panel(
        "Replicas behind their leader",
        "short",
        [(f"jsctl_stream_replica_lag{_STREAM}", "{{stream_name}} on {{replica}}")],
    ),
)
_METRIC = re.compile(r"\b(?:" + "|".join(sorted(HELP, key=len, reverse=True)) + r")\b")


def build_files(prefix: str = "") -> Mapping[str, str]:
    """Return the texts of all files, by name. prefix: as the exporter has it."""
    dashboards = {
        "jetstream-overview.json": _build_dashboard(
            "jsctl-overview", "JetStream overview", _OVERVIEW, prefix
        ),
        "jetstream-streams.json": _build_dashboard(
            "jsctl-streams", "JetStream streams and consumers", _STREAMS, prefix
        ),
    }
    rules = resources.files(__package__).joinpath("alert_rules.yaml").read_text(encoding="utf-8")
    texts = {name: json.dumps(dashboard, indent=2) + "\n" for name, dashboard in dashboards.items()}
    return {**texts, "jetstream-alerts.yaml": _add_prefix(rules, prefix)}


def _add_prefix(expression: str, prefix: str) -> str:
    """Return an expression with names as the exporter writes them."""

    def rename(match: re.Match[str]) -> str:
        own, rest = match[0].split("_", 1)
        return f"{prefix}_{rest}" if prefix and own in ("gnatsd", "jetstream") else match[0]

    return _METRIC.sub(rename, expression)


def _build_dashboard(uid: str, title: str, panels: Sequence[Panel], prefix: str) -> dict[str, Any]:
    """Return a dashboard as Grafana imports it (schema 39), with variables for the source of data, contexts,
    domains and streams."""
    source = {"type": "prometheus", "uid": "${datasource}"}
    built: list[dict[str, Any]] = []
    x, y = 0, 0
    for number, panel in enumerate(panels, 1):
        height = 4 if panel.kind == "stat" else 8
        if x + panel.width > 24:
            x, y = 0, y + built[-1]["gridPos"]["h"]
        targets = [
            {
                "refId": chr(ord("A") + index),
                "datasource": source,
                "expr": _add_prefix(expression, prefix),
                "legendFormat": legend or "__auto",
                **({"format": "table", "instant": True} if panel.kind == "table" else {}),
            }
            for index, (expression, legend) in enumerate(panel.queries)
        ]
        built.append(
            {
                "id": number,
                "type": panel.kind,
                "title": panel.title,
                "datasource": source,
                "gridPos": {"x": x, "y": y, "w": panel.width, "h": height},
                "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
                "options": {},
                "targets": targets,
            }
        )
        x += panel.width
    names = ["context", "domain"] + (["stream"] if panels is _STREAMS else [])
    return {
        "uid": uid,
        "title": title,
        "tags": ["jetstream", "jsctl"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [_SOURCE, *(_build_variable(name, prefix) for name in names)]},
        "panels": built,
    }


_SOURCE = {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source"}


def _build_variable(name: str, prefix: str) -> dict[str, Any]:
    queries = {
        "context": "label_values(jsctl_up, context)",
        "domain": 'label_values(jsctl_up{context=~"$context"}, domain)',
        "stream": f"label_values(jetstream_stream_total_messages{_PLACE}, stream_name)",
    }
    return {
        "name": name,
        "label": name.capitalize(),
        "type": "query",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "query": _add_prefix(queries[name], prefix),
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }
