"""Samples as Prometheus reads them (text format 0.0.4)."""

from collections.abc import Iterable

from jsctl.monitor.exporter.metrics import HELP
from jsctl.monitor.exporter.sample import Sample

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def format_samples(samples: Iterable[Sample], prefix: str = "") -> str:
    """Return the text of all samples, by metric. Labels without a value are left out, which means the same.

    prefix: for metrics with names of prometheus-nats-exporter, instead of gnatsd and jetstream; empty for
    those.
    """
    by_metric: dict[str, dict[str, float]] = {metric: {} for metric in HELP}
    for sample in samples:
        # The same series twice would make the whole text invalid.
        by_metric[sample.metric].setdefault(_series(sample), sample.value)
    lines: list[str] = []
    for metric, series in by_metric.items():
        if series:
            start = metric.split("_", 1)[0]
            new = prefix if prefix and start in ("gnatsd", "jetstream") else start
            shown = new + metric.removeprefix(start)
            lines += [f"# HELP {shown} {HELP[metric]}", f"# TYPE {shown} gauge"]
            lines += [f"{new}{name.removeprefix(start)} {_number(value)}" for name, value in series.items()]
    return "\n".join(lines) + "\n" if lines else ""


def _series(sample: Sample) -> str:
    pairs = [f'{name}="{value.translate(_ESCAPES)}"' for name, value in sample.labels.items() if value]
    return f"{sample.metric}{{{','.join(pairs)}}}" if pairs else sample.metric


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
