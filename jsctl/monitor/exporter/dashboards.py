"""Dashboards of Grafana and alert rules of Prometheus over the metrics of the exporter, as texts of files. No
I/O."""

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

from jsctl.monitor.exporter.metrics import HELP

_PLACE = '{context=~"$context",domain=~"$domain"}'
_STREAM = '{context=~"$context",domain=~"$domain",stream_name=~"$stream"}'


class Panel(NamedTuple):
    """A panel. unit: of Grafana. queries: expressions and the legend of each. kind: of Grafana. width: of 24
    columns."""

    title: str
    unit: str
    queries: Sequence[tuple[str, str]]
    kind: str = "timeseries"
    width: int = 12


def _merge(labels: str, series: str, merge: str = "max") -> str:
    """Return the expression of series that several exporters have, each once. labels: what identifies them
    in a place, separated by commas; instance, and the leader that one of them does not know yet, do not."""
    names = ", ".join(["context", "domain", *filter(None, [labels])])
    return f"{merge} by ({names}) ({series})"


def _merge_streams(metric: str, labels: str = "") -> str:
    return _merge(", ".join(["stream_name", *filter(None, [labels])]), metric + _STREAM)


def _merge_consumers(metric: str) -> str:
    return _merge_streams(metric, "consumer_name")


_UP = _merge("", f"jsctl_up{_PLACE}")
_CONSUMER_NAME = "{{stream_name}} > {{consumer_name}}"
_STREAM_NAME = "{{domain}} {{stream_name}}"


def _build_problem_count(title: str, level: str) -> Panel:
    series = f'jsctl_problems{{level="{level}",{_PLACE[1:]}'
    return Panel(title, "short", [(f"sum({_merge('', series)})", "")], "stat", 4)


_OVERVIEW = (
    Panel("Places that answer", "short", [(f"sum({_UP})", "")], "stat", 4),
    Panel("Places that do not answer", "short", [(f"count({_UP} == 0) or vector(0)", "")], "stat", 4),
    _build_problem_count("Broken", "bad"),
    _build_problem_count("To watch", "warning"),
    Panel(
        "Not checked",
        "short",
        [(f"sum({_merge('part', f'jsctl_not_checked{_PLACE}', 'min')})", "")],
        "stat",
        4,
    ),
    Panel("Largest lag", "short", [(f"max(jetstream_consumer_num_pending{_PLACE})", "")], "stat", 4),
    Panel(
        "Problems",
        "short",
        [
            (
                _merge("kind, name, problem, code, level", f"jsctl_problem{_PLACE}"),
                "{{kind}} {{name}}: {{problem}}",
            )
        ],
        "table",
        24,
    ),
    Panel(
        "Messages stored per second",
        "short",
        [
            (
                "sum by (context, domain) ("
                + _merge("stream_name", f"jsctl_stream_stored_messages_per_second{_PLACE}")
                + ")",
                "{{context}} {{domain}}",
            )
        ],
    ),
    Panel(
        "Bytes in streams",
        "bytes",
        [
            (
                "sum by (context, domain) ("
                + _merge("stream_name", f"jetstream_stream_total_bytes{_PLACE}")
                + ")",
                "{{context}} {{domain}}",
            )
        ],
    ),
    Panel(
        "Storage used by accounts",
        "bytes",
        [
            (_merge("account, tier", f"jetstream_account_storage_used{_PLACE}"), "{{account}} files"),
            (_merge("account, tier", f"jetstream_account_memory_used{_PLACE}"), "{{account}} memory"),
        ],
    ),
    Panel(
        "Errors of the JetStream API per second",
        "short",
        [
            (
                _merge("account", f"rate(jsctl_account_api_errors{_PLACE}[5m])"),
                "{{context}} {{domain}} {{account}}",
            )
        ],
    ),
    Panel(
        "Advisories per second",
        "short",
        [
            (
                _merge("kind", f"rate(jsctl_advisories_total{_PLACE}[5m])") + " > 0",
                "{{context}} {{domain}} {{kind}}",
            )
        ],
    ),
    Panel(
        "Messages given up and terminated per second",
        "short",
        [
            (
                _merge("stream_name, consumer_name", f"rate({metric}{_PLACE}[5m])") + " > 0",
                "{{stream_name}} > {{consumer_name}} " + word,
            )
            for metric, word in (
                ("jsctl_consumer_max_deliveries_total", "given up"),
                ("jsctl_consumer_terminated_total", "terminated"),
            )
        ],
    ),
    Panel(
        "Processor time of servers",
        "percent",
        [("max by (server_name) (gnatsd_varz_cpu)", "{{server_name}}")],
    ),
    Panel("Memory of servers", "bytes", [("max by (server_name) (gnatsd_varz_mem)", "{{server_name}}")]),
)
_STREAMS = (
    Panel("Messages", "short", [(_merge_streams("jetstream_stream_total_messages"), _STREAM_NAME)]),
    Panel(
        "Stored per second",
        "short",
        [(_merge_streams("jsctl_stream_stored_messages_per_second"), _STREAM_NAME)],
    ),
    Panel("How full", "percentunit", [(_merge_streams("jsctl_stream_used_ratio"), _STREAM_NAME)]),
    Panel("Time until full", "s", [(_merge_streams("jsctl_stream_full_seconds"), _STREAM_NAME)]),
    Panel(
        "Lag of consumers", "short", [(_merge_consumers("jetstream_consumer_num_pending"), _CONSUMER_NAME)]
    ),
    Panel(
        "Not acknowledged",
        "short",
        [(_merge_consumers("jetstream_consumer_num_ack_pending"), _CONSUMER_NAME)],
    ),
    Panel(
        "Delivered per second",
        "short",
        [(_merge_consumers("jsctl_consumer_delivered_messages_per_second"), _CONSUMER_NAME)],
    ),
    Panel(
        "Time until nothing is left to deliver",
        "s",
        [(_merge_consumers("jsctl_consumer_drain_seconds"), _CONSUMER_NAME)],
    ),
    Panel(
        "Lag of mirrors and sources",
        "short",
        [
            (
                _merge_streams("jetstream_stream_mirror_lag", "mirror_name"),
                "{{stream_name}} of {{mirror_name}}",
            ),
            (
                _merge_streams("jetstream_stream_source_lag", "source_name, source_filter"),
                "{{stream_name}} of {{source_name}} {{source_filter}}",
            ),
        ],
    ),
    Panel(
        "Replicas behind their leader",
        "short",
        [(_merge_streams("jsctl_stream_replica_lag", "replica"), "{{stream_name}} on {{replica}}")],
    ),
    Panel(
        "Messages by subject (--subjects)",
        "short",
        [(_merge_streams("jsctl_stream_subject_messages", "subject"), "{{stream_name}} {{subject}}")],
    ),
)
_METRIC = re.compile(r"\b(?:" + "|".join(sorted(HELP, key=len, reverse=True)) + r")\b")


def build_files(prefix: str) -> Mapping[str, str]:
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
