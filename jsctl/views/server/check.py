"""`server check`: an outcome for Nagios, Prometheus, scripts and people."""

import json
import re
from collections.abc import Sequence
from typing import Any

from jsctl.errors import ExitStatus
from jsctl.monitor.check.outcome import Check, CheckStatus, Measure
from jsctl.views.result import Column, Result, Table, Text

_PLAIN_NAME = re.compile(r"[\w.-]+", re.ASCII)
_NO_METRIC = re.compile(r"\W", re.ASCII)
FORMATS = ("nagios", "json", "prometheus", "text")

_DETAIL = (Column("Status", "status"), Column("Message", "message", "prose"))
_METRICS = (
    Column("Metric", "metric"),
    Column("Value", "value"),
    Column("Critical", "critical"),
    Column("Warning", "warning"),
    Column("Description", "description", "prose"),
)


def check(outcome: Check, form: str, namespace: str) -> Result:
    """Show an outcome. form: one of FORMATS. namespace: of Prometheus' metrics."""
    status = ExitStatus(int(outcome.status))
    document = _build_document(outcome)
    if form == "json":
        return Result([Text(json.dumps(document, indent=2), whole=True)], data=document, status=status)
    if form == "prometheus":
        text = "\n".join(_format_prometheus(outcome, namespace))
        # The exit status is OK: the outcome is one of the metrics, which are collected whatever it is.
        return Result([Text(text, whole=True)], data=document)
    if form == "text":
        return Result(_list_tables(outcome), data=document, status=status)
    return Result([Text(_format_nagios(outcome), whole=True)], data=document, status=status)


def as_text(result: Result) -> str:
    """Return an outcome in the form that is written to a file."""
    texts = [part.text for part in result.parts if isinstance(part, Text)]
    for table in result.tables():
        texts += ["  ".join(map(str, row)) for row in table.rows]
    return "\n".join(texts) + "\n"


def _format_nagios(outcome: Check) -> str:
    words = [outcome.status.name, outcome.name]
    words += [f"Crit:{text}" for text in outcome.criticals]
    words += [f"Warn:{text}" for text in outcome.warnings]
    words += [f"OK:{text}" for text in outcome.good]
    line = " ".join(words).replace("|", " ")
    return f"{line} | {' '.join(map(_format_measure, outcome.measures))}" if outcome.measures else line


def _format_measure(measure: Measure) -> str:
    """Format a number as Nagios plugins do: name=value[unit][;warn;critical]."""
    value = _format_number(measure)
    if not measure.warn and not measure.critical:
        return value
    return f"{value};{_format_bound(measure, measure.warn)};{_format_bound(measure, measure.critical)}"


def _format_number(measure: Measure) -> str:
    name = measure.name if _PLAIN_NAME.fullmatch(measure.name) else f"'{measure.name.replace(chr(39), '_')}'"
    return f"{name}={_format_value(measure, measure.value)}{measure.unit}"


def _format_bound(measure: Measure, bound: float) -> str:
    return _format_value(measure, bound) if bound else ""


def _format_value(measure: Measure, value: float) -> str:
    return f"{value:.4f}" if measure.unit == "s" else f"{value:.2f}".rstrip("0").rstrip(".")


def _build_document(outcome: Check) -> dict[str, Any]:
    return {
        "status": outcome.status.name,
        "check_suite": outcome.suite,
        "check_name": outcome.name,
        "warning": outcome.warnings,
        "critical": outcome.criticals,
        "ok": outcome.good,
        "perf_data": [
            {
                "name": measure.name,
                "value": measure.value,
                "warning": measure.warn,
                "critical": measure.critical,
                "unit": measure.unit,
            }
            for measure in outcome.measures
        ],
    }


def _format_prometheus(outcome: Check, namespace: str) -> list[str]:
    """Return gauges in Prometheus' text format, with the names of the `nats` tool."""
    item = outcome.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    prefix = f"{namespace}_{outcome.suite}"
    lines: list[str] = []
    for measure in {measure.name: measure for measure in outcome.measures}.values():
        name = f"{prefix}_{_NO_METRIC.sub('_', measure.name)}"
        lines += [
            f"# HELP {name} {measure.label}",
            f"# TYPE {name} gauge",
            f'{name}{{item="{item}"}} {measure.value!r}',
        ]
    name = f"{prefix}_status_code"
    return [
        *lines,
        f"# HELP {name} Nagios compatible status code for {outcome.suite}",
        f"# TYPE {name} gauge",
        f'{name}{{item="{item}",status="{outcome.status.name}"}} {int(outcome.status)}',
    ]


def _list_tables(outcome: Check) -> Sequence[Text | Table]:
    rows = [(CheckStatus.CRITICAL.name.capitalize(), text) for text in outcome.criticals]
    rows += [("Warning", text) for text in outcome.warnings] + [("OK", text) for text in outcome.good]
    parts: list[Text | Table] = [Text(f"{outcome.name}: {outcome.status.name}")]
    if rows:
        parts.append(Table("Status Detail", _DETAIL, rows))
    if outcome.measures:
        metrics = [
            (
                measure.name,
                f"{_format_value(measure, measure.value)} {measure.unit}".strip(),
                _format_bound(measure, measure.critical),
                _format_bound(measure, measure.warn),
                measure.label,
            )
            for measure in outcome.measures
        ]
        parts.append(Table("Check Metrics", _METRICS, metrics))
    return parts
