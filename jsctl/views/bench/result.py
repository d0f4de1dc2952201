"""Results of `bench`: what was measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.base.units import SECOND, format_bytes, format_exact_duration, format_rfc3339, pluralize
from jsctl.bench.histogram import PERCENTILES, Histogram
from jsctl.bench.limits import BUSY, Limit
from jsctl.bench.meter import ClientResult, Outcome, compute_rate
from jsctl.bench.plan import Plan
from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Json
from jsctl.views.intent import Intent
from jsctl.views.result import Chart, Column, Field, InfoPage, Part, Result, Section, Table, Text

NAMES: Mapping[str, tuple[str, str, str]] = {
    "pub": ("Publishing without acks", "published", "handing over a write"),
    "sub": ("Subscribing", "received", ""),
    "service request": ("Requests", "answered", "a request"),
    "service serve": ("Answering requests", "answered", ""),
    "js pub sync": ("Publishing to a stream, one by one", "stored", "an ack"),
    "js pub async": ("Publishing to a stream", "stored", "an ack"),
    "js pub batch": ("Publishing atomic batches to a stream", "stored", "a batch"),
    "js pub fast": ("Fast ingest into a stream", "stored", "an ack"),
    "js ordered": ("An ordered consumer", "received", ""),
    "js consume": ("A durable consumer", "received", "a confirmed ack"),
    "js fetch": ("A durable consumer, batch by batch", "received", "a batch"),
    "js get sync": ("Getting messages, one by one", "read", "a get"),
    "js get batch": ("Getting messages in batches", "read", "a batch"),
    "kv put": ("Putting values", "stored", "a put"),
    "kv get": ("Getting values", "read", "a get"),
    "object put": ("Putting objects", "stored", "an object"),
    "object get": ("Getting objects", "read", "an object"),
}
"""For each kind: its heading, what happens to its messages, and the operation that its latency measures."""

_CLIENTS = (
    Column("Client", "client", "number"),
    Column("Messages", "messages", "count"),
    Column("Time", "time", "duration"),
    Column("Messages/s", "messages_per_second", "count"),
    Column("Bytes/s", "bytes_per_second", "bytes", hideable=4),
    Column("P50", "p50", "duration", hideable=1, optional=True),
    Column("P99", "p99", "duration", hideable=2, optional=True),
    Column("P99.9", "p99_9", "duration", hideable=3, optional=True),
)
_PLOTTED = 61
"""Columns of the plot: the share that is left falls tenfold every fifteen."""


def announcement(plan: Plan, size: int) -> str:
    """Return the line before a benchmark. size: bytes of a payload, 0 if nothing is sent."""
    heading = NAMES[plan.kind][0]
    amount = pluralize(plan.messages, "message") if plan.messages else "messages without end"
    parts = [amount, *([f"of {format_bytes(size)}"] if size else [])]
    clients = pluralize(plan.clients, "client")
    if plan.processes:
        clients += f" in {plan.processes} process{'es' * (plan.processes != 1)}"
    waits = "; waiting for the first message, ctrl-C ends it" if plan.kind == "sub" else ""
    return f"{heading}: {' '.join(parts)}, {clients}{waits}"


def intent(plan: Plan, stream: str, info: Json | None, keys: Sequence[str], *, purges: bool) -> Intent:
    """Return the intent to run a benchmark, with what it does to a stream first.

    info: that of the stream; None for one that is created. keys: of its configuration, which change.
    """
    state = info["state"] if info else {"messages": 0, "bytes": 0}
    lines = [f"Would create stream {stream}"] if info is None else []
    lines += [f"Would change {', '.join(keys)} of stream {stream}"] if keys else []
    if purges and state["messages"]:
        count, size = pluralize(state["messages"], "message"), format_bytes(state["bytes"])
        lines.append(f"Would remove all {count} of stream {stream}, {size}")
    action = f"run: {announcement(plan, len(plan.payload))}"
    facts = {"stream": stream, "creates": info is None, "changes": list(keys), "purges": purges}
    return Intent(
        action, {**facts, **{k: state[k] for k in ("messages", "bytes")}}, [*lines, f"Would {action}"]
    )


def result(plan: Plan, outcome: Outcome, limit: Limit, *, plot: bool) -> Result:
    """Return figures, latencies, clients and, with `plot`, the latency by percentile."""
    heading, word, operation = NAMES[plan.kind]
    clients = outcome.clients
    latencies = outcome.latencies
    rows = [_build_row(client) for client in clients]
    table = Table("Clients", _CLIENTS, rows)
    sections = [Section("", _build_figure_fields(plan, outcome, limit, word))]
    if len(latencies):
        sections.append(Section(f"Latency, the time of {operation}", _build_latency_fields(latencies)))
    parts: list[Part] = [InfoPage(heading, sections)]
    if len(clients) > 1:
        parts.append(table)
    if plot and len(latencies):
        parts.append(percentile_plot(latencies))
    parts += [Text(f"Note: {note}", "warn") for note in outcome.notes]
    status = ExitStatus.INTERRUPTED if outcome.stopped and plan.kind != "service serve" else ExitStatus.OK
    return Result(parts, data=lambda: document(plan, outcome, limit), status=status, table=table)


def _build_figure_fields(plan: Plan, outcome: Outcome, limit: Limit, word: str) -> list[Field]:
    messages, duration = outcome.messages, outcome.duration
    expected = plan.total - plan.warm_up * plan.clients if plan.total else 0
    fields = [
        Field("Messages", f"{messages:,}{f' of {expected:,}' * (expected > messages)} {word}"),
        Field("Size", f"{format_bytes(round(outcome.bytes / messages))} on average" if messages else "-"),
        Field("Time", duration, "duration"),
        Field("Rate", f"{round(compute_rate(messages, duration)):,} msgs/sec"),
        Field("Throughput", f"{format_bytes(round(compute_rate(outcome.bytes, duration)))}/s"),
    ]
    if plan.rate:
        fields.insert(4, Field("Target Rate", f"{plan.rate:,g} msgs/sec"))
    return [*fields, Field("Limit", limit_text(limit, plan))]


def limit_text(limit: Limit, plan: Plan) -> str:
    """Return a sentence on what limited the throughput."""
    client = f"{limit.client_cpu:.0%} of a core"
    is_known = limit.server_cpu >= 0
    server = f", the server {limit.server_cpu:.0%}" if is_known else ""
    note = f"; the server took {limit.server_cpu:.0%} of a core" if is_known else ""
    match limit.by:
        case "rate":
            return f"--rate: it was reached{note}"
        case "pause":
            return f"--sleep{note}"
        case "client":
            more = "" if plan.clients > 1 else "; --clients takes more cores"
            return f"the client: it took {client}{server}{more}"
        case "server":
            return f"the server: it took {limit.server_cpu:.0%} of a core, this client {limit.client_cpu:.0%}"
        case "round trips":
            more = "more clients do more" if plan.clients == 1 else "it takes this long"
            return f"the way to the server and back: {more}; the client took {client}{server}"
        case "waiting" if limit.server_cpu < 0:
            return f"the server or the network: the client took {client} only"
        case "waiting":
            return f"waiting for each other, the disk or the network: the client took {client}{server}"
    return "unknown: the run was too short"


def _build_latency_fields(latencies: Histogram) -> list[Field]:
    pairs = [("Min", latencies.smallest), ("Mean", latencies.mean)]
    pairs += [(f"P{share:g}", latencies.compute_percentile(share)) for share in PERCENTILES]
    return [Field(name, latency(span)) for name, span in [*pairs, ("Max", latencies.largest)]]


def latency(span: float) -> str:
    """Format a latency in ns with three significant digits."""
    value = round(span)
    step: int = 10 ** max(len(str(abs(value))) - 3, 0)
    return format_exact_duration(round(value / step) * step)


def _build_row(client: ClientResult) -> list[Any]:
    spans = client.latencies
    percentiles = [spans.compute_percentile(share) if len(spans) else None for share in (50, 99, 99.9)]
    return [
        client.client + 1,
        client.messages,
        client.duration,
        round(client.rate),
        round(client.throughput),
        *percentiles,
    ]


def percentile_plot(latencies: Histogram) -> Chart:
    """Return the latency by percentile; the scale gets finer towards 100%."""
    shares = [100 * (1 - 10 ** (-4 * index / (_PLOTTED - 1))) for index in range(_PLOTTED)]
    spans = [latencies.compute_percentile(share) for share in shares]
    unit, name = (1, "ns") if spans[-1] < 10_000 else (1000, "µs")
    marks = "0%".ljust(14) + "90%".ljust(15) + "99%".ljust(15) + "99.9%".ljust(13) + "99.99%"
    caption = f"{marks}\n{'':>11}Latency in {name} by percentile"
    return Chart(caption, [span // unit for span in spans], "bars", 8)


def document(plan: Plan, outcome: Outcome, limit: Limit) -> dict[str, Any]:
    """Return everything that was measured."""
    latencies = outcome.latencies
    messages = outcome.messages
    return {
        "bench": plan.kind,
        "options": _build_options(plan),
        "messages": messages,
        "bytes": outcome.bytes,
        "message_bytes": outcome.bytes / messages if messages else 0,
        "duration_ns": outcome.duration,
        "messages_per_second": compute_rate(messages, outcome.duration),
        "bytes_per_second": compute_rate(outcome.bytes, outcome.duration),
        "complete": all(client.complete for client in outcome.clients),
        "limit": {
            "by": limit.by,
            "client_cpu": round(limit.client_cpu, 4),
            "server_cpu": round(limit.server_cpu, 4) if limit.server_cpu >= 0 else None,
            "busy_from": BUSY,
        },
        "latency": {"of": NAMES[plan.kind][2], **latencies.record()} if len(latencies) else None,
        "clients": [_build_client(client) for client in outcome.clients],
        "notes": outcome.notes,
    }


def _build_options(plan: Plan) -> dict[str, Any]:
    """Return the options that distinguish one benchmark of a kind from another."""
    return {
        "subject": plan.subject or None,
        "name": plan.name or None,
        "consumer": plan.consumer or None,
        "messages": plan.messages or None,
        "clients": plan.clients,
        "processes": plan.processes,
        "payload_bytes": len(plan.payload),
        "header_bytes": len(plan.header_block),
        "subjects": plan.subjects if plan.subjects >= 0 else 1,
        "random": plan.random,
        "keys": plan.keys,
        "sleep_ns": plan.sleep,
        "rate": plan.rate or None,
        "duration_ns": plan.duration or None,
        "warm_up": plan.warm_up,
        "batch": plan.batch,
        "max_acks": plan.max_acks,
        "acks": plan.acks,
        "double_ack": plan.double_ack,
        "filters": list(plan.filters),
        "ids": plan.ids,
    }


def _build_client(client: ClientResult) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "client": client.client + 1,
        "messages": client.messages,
        "bytes": client.bytes,
        "duration_ns": client.duration,
        "messages_per_second": client.rate,
        "bytes_per_second": client.throughput,
        "complete": client.complete,
    }
    if len(client.latencies):
        record = client.latencies.record()
        del record["histogram_ns"], record["histogram_hdr"]
        figures["latency"] = record
    return figures


_CSV = (
    "RunID,ClientID,MsgCount,MsgBytes,MsgsPerSec,BytesPerSec,DurationSecs,MinLatencyMicroSecs,"
    "AvgLatencyMicroSecs,MaxLatencyMicroSecs,P50LatencyMicroSecs,P90LatencyMicroSecs,P99LatencyMicroSecs,"
    "P99.9LatencyMicroSecs,StdDevLatencyMicroSecs"
)


def csv_lines(plan: Plan, outcome: Outcome) -> str:
    """Return a line for each client, with the columns of the `nats` tool."""
    lines = ["#" + _CSV]
    for client in outcome.clients:
        spans = client.latencies
        spans_ns: Sequence[int] = [0] * 8
        if len(spans):
            middle = [spans.compute_percentile(share) for share in (50, 90, 99, 99.9)]
            spans_ns = [spans.smallest, spans.mean, spans.largest, *middle, spans.deviation]
        figures = [
            plan.run,
            f"C{client.client + 1}",
            client.messages,
            client.bytes,
            round(client.rate),
            f"{client.throughput:.6f}",
            f"{client.duration / 1e9:.6f}",
            *(f"{value / 1000:.6f}" for value in spans_ns),
        ]
        lines.append(",".join(map(str, figures)))
    return "\n".join(lines) + "\n"


def hdr_log(outcome: Outcome, ended: float) -> str:
    """Return a log of HDR histograms with the latencies of all clients. ended: seconds since 1970."""
    latencies, seconds = outcome.latencies, outcome.duration / SECOND
    began = ended - seconds
    lines = [
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {began:.3f} (seconds since epoch), {format_rfc3339(round(began) * SECOND)}]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    if len(latencies):
        lines.append(f"0.000,{seconds:.3f},{latencies.largest / 1e6:.3f},{latencies.encode()}")
    return "\n".join(lines) + "\n"
