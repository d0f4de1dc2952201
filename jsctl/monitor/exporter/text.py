"""Samples in the text format of Prometheus (0.0.4).

`prometheus_client.generate_latest` would take 3.8 times the processor time and twice the memory for a round
(`tests/bench/exporter.py`), and 0.1 s to import. Tests read this text with its parser.
"""

from collections.abc import Iterable

from jsctl.monitor.exporter.metrics import HELP
from jsctl.monitor.exporter.sample import Sample

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def format_samples(samples: Iterable[Sample], prefix: str = "") -> str:
    """Return the text of all samples, by metric. Labels without a value are left out, which means the same.

    prefix: replaces `gnatsd` and `jetstream` at the start of the names of prometheus-nats-exporter; empty to
    keep them.
    """
    by_metric: dict[str, dict[str, float]] = {metric: {} for metric in HELP}
    for sample in samples:
        # A series that occurs twice would make the whole text invalid.
        by_metric[sample.metric].setdefault(_format_series(sample), sample.value)
    lines: list[str] = []
    for metric, series in by_metric.items():
        if series:
            own_prefix = metric.split("_", 1)[0]
            used_prefix = prefix if prefix and own_prefix in ("gnatsd", "jetstream") else own_prefix
            full_name = used_prefix + metric.removeprefix(own_prefix)
            kind = "counter" if metric.endswith("_total") else "gauge"
            lines += [f"# HELP {full_name} {HELP[metric]}", f"# TYPE {full_name} {kind}"]
            lines += [
                f"{used_prefix}{name.removeprefix(own_prefix)} {_format_number(value)}"
                for name, value in series.items()
            ]
    return "\n".join(lines) + "\n" if lines else ""


def _format_series(sample: Sample) -> str:
    pairs = [f'{name}="{value.translate(_ESCAPES)}"' for name, value in sample.labels.items() if value]
    return f"{sample.metric}{{{','.join(pairs)}}}" if pairs else sample.metric


def _format_number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
