"""`jsctl trace`."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsctl.base.files import CONFIG_SIZE, read_bytes
from jsctl.base.json_text import parse_json
from jsctl.base.units import US, format_duration, parse_time_ns
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.nats.headers import encode_headers, parse_header_text
from jsctl.trace import model
from jsctl.trace.model import Hop, Json, Step
from jsctl.trace.request import trace as trace_message
from jsctl.views.result import Column, Field, InfoPage, Lines, Part, Result, Section, Table, Text
from jsctl.views.shared.text import quote_for_dot

_ARROWS = {
    model.CLIENT: "--C",
    model.ROUTER: "-->",
    model.GATEWAY: "==>",
    model.LEAF: "~~>",
    model.JETSTREAM: "--J",
}
_IDS = {model.ROUTER: "rid", model.GATEWAY: "gid", model.LEAF: "lid"}
_LEGEND = "Legend: --C client  --> router  ==> gateway  ~~> leafnode  --J stream  --X error"
_DIFFERENCES = (Column("Trace", "trace"), Column("Where", "where"), Column("What", "what"))


def tree(subject: str, documents: Mapping[str, Json], *, times: bool, deliver: bool) -> Result:
    """Show the path of a message as a tree. times: with the time since it was received."""
    root = model.build(documents)
    began = _parse_ns(root.arrival.time) if root.arrival else 0
    lines = list(_list_hop_lines(root, 0, began if times else None))
    parts: list[Part] = [Text("\n".join(lines), drawn=True), Text(_LEGEND)]
    if counts := model.count_hops(root):
        fields = [Field(kind, count, "count") for kind, count in sorted(counts.items())]
        parts.append(InfoPage("Egress Count:", [Section("", fields)]))
    if reasons := model.list_reasons(root):
        parts.append(Lines(["Nobody received it:", *(f"  {reason}" for reason in reasons)], "warn"))
    streams = [step.stream for _, step in root.deliveries if step.type == "js"]
    if len(streams) > 1:
        parts.append(Text(f"warning: {len(streams)} streams store it: {', '.join(sorted(streams))}", "warn"))
    silent = [(hop, step) for hop, step in root.walk() if step.is_silent]
    for hop, step in silent if not reasons else ():
        name = step.name or model.KINDS[step.kind]
        parts.append(Text(f"warning: {name}, to which {hop.server} sent it, did not answer", "warn"))
    data = {
        "subject": subject,
        "delivered": deliver and bool(root.deliveries),
        "received": len(root.deliveries),
        "egress": counts,
        "reasons": reasons,
        "silent": [step.name for _, step in silent],
        "traces": list(documents.values()),
    }
    return Result(parts, data=data)


def _list_hop_lines(hop: Hop, depth: int, began: int | None) -> Iterator[str]:
    indent = "    " * depth
    if (arrival := hop.arrival) is not None:
        has_cluster = hop.cluster and arrival.kind in (model.CLIENT, model.GATEWAY)
        cluster = f" cluster:{_quote(hop.cluster)}" if has_cluster else ""
        server = f"server:{_quote(hop.server)} version:{_quote(hop.version)}"
        line = f"{_format_connection(arrival)}{cluster} {server}"
        yield indent + _add_time(line, arrival, began)
        if arrival.error:
            yield indent + _add_time(f"--X Error: {arrival.error}", arrival, began)
    for step in hop.steps:
        for line in _step_lines(step):
            yield indent + _add_time(line, step, began)
        if step.next is not None:
            yield from _list_hop_lines(step.next, depth + 1, began)
        elif step.is_silent:
            yield indent + "    --X no answer"
    ended = not any(step.type in ("eg", "js") for step in hop.steps)
    if ended and depth == 0 and not (hop.arrival and hop.arrival.error):
        yield indent + "--X No active interest"


def _step_lines(step: Step) -> Iterator[str]:
    match step.type:
        case "sm":
            yield f"    Mapping subject:{_quote(step.subject)}"
        case "si":
            pairs = f"from:{_quote(step.origin)} to:{_quote(step.subject)} account:{_quote(step.account)}"
            yield f"    Service Import {pairs}"
        case "se":
            yield f"    Stream Export subject:{_quote(step.subject)} account:{_quote(step.account)}"
        case "js":
            action = "no interest" if step.no_interest else "stored"
            pairs = f"stream:{_quote(step.stream)} subject:{_quote(step.subject)}"
            yield f"--J JetStream action:{_quote(action)} {pairs}"
        case _:
            labels = ("account", step.account), ("subject", step.subject), ("queue", step.queue)
            pairs = "".join(f" {key}:{_quote(value)}" for key, value in labels if value)
            yield f"{_ARROWS.get(step.kind, '-->')} {_format_connection(step)}{pairs}"
    if step.error:
        yield f"  --X Error: {step.error}"


def _format_connection(step: Step) -> str:
    name = f" {_quote(step.name)}" if step.name else ""
    return f"{model.KINDS[step.kind]}{name} {_IDS.get(step.kind, 'cid')}:{step.connection}"


def _add_time(line: str, step: Step, began: int | None) -> str:
    if began is None:
        return line
    since = _parse_ns(step.time) - began
    return f"[{format_duration(since // US * US) if since >= 0 else 'Skew'}] {line}"


def _parse_ns(time: str) -> int:
    try:
        return parse_time_ns(time)
    except (ValueError, OverflowError):
        return 0


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def dot(subject: str, documents: Mapping[str, Json]) -> Result:
    """Show the path of a message in Graphviz's language."""
    root = model.build(documents)
    names: dict[str, int] = {}

    def node(label: str) -> str:
        return f"n{names.setdefault(label, len(names))}"

    edges: list[str] = []
    if root.arrival is not None:
        publisher = f"publisher {root.arrival.name}".strip()
        server = node(f"server {root.server}")
        edges.append(f"  {node(publisher)} -> {server} [label={quote_for_dot(subject)}];")
    for hop, step in root.walk():
        if step.type not in ("eg", "js"):
            continue
        if step.next is not None:
            target = f"server {step.next.server}"
        elif step.type == "js":
            target = f"stream {step.stream}"
        else:
            target = f"{model.KINDS[step.kind].lower()} {step.name} {step.connection} of {hop.server}"
        style = ' color="red"' if step.error or step.is_silent else ""
        label = quote_for_dot(step.error or step.subject)
        edges.append(f"  {node(f'server {hop.server}')} -> {node(target)} [label={label}{style}];")
    shapes = {"server": "box", "stream": "cylinder"}
    nodes = [
        f"  n{number} [label={quote_for_dot(label)} shape={shapes.get(label.split()[0], 'ellipse')}];"
        for label, number in names.items()
    ]
    return Result([Text("\n".join(["digraph trace {", "  rankdir=LR;", *nodes, *edges, "}"]), whole=True)])


def difference(before: Hop, after: Hop) -> Result:
    """Show how two paths differ; the status is 2 when they do."""
    first, second = Counter(model.format_lines(before)), Counter(model.format_lines(after))
    rows = [("only the first", *line) for line in (first - second).elements()]
    rows += [("only the second", *line) for line in (second - first).elements()]
    if not rows:
        return Result([Text("No difference")], data=[])
    return Result([Table("Differences", _DIFFERENCES, rows)], status=ExitStatus.DIFFERENT)


@dataclass(frozen=True, slots=True)
class Options:
    """The flags and arguments of `trace`. words: subject and payload, or `diff` and two files."""

    words: tuple[str, ...]
    deliver: bool
    timestamp: bool
    headers: tuple[str, ...]
    dot: bool

    def __post_init__(self) -> None:
        if self.is_diff:
            return
        if not self.words:
            raise BadInput("the subject is missing", "specify SUBJECT")
        if len(self.words) > 2:
            raise BadInput("there are too many arguments", "specify only SUBJECT and PAYLOAD, quoted")

    @property
    def is_diff(self) -> bool:
        """Whether two saved traces are compared."""
        return len(self.words) == 3 and self.words[0] == "diff"

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The headers. Raises BadInput."""
        pairs = [parse_header_text(text) for text in self.headers]
        encode_headers(pairs)
        return pairs


@command(
    "trace",
    examples=[
        "jsctl trace orders.new",
        "jsctl trace orders.new 'order 1' --deliver --timestamp",
        "jsctl trace orders.new --dot",
        "jsctl trace diff before.json after.json",
    ],
)
@argument("words", metavar="SUBJECT [PAYLOAD]", nargs=-1)
@option("--deliver", is_flag=True, help="Deliver the message, too")
@option("--timestamp", "-T", is_flag=True, help="Show the time since the message was received")
@option("--header", "-H", "headers", metavar="K:V", multiple=True, help="Add a header; may be repeated")
@option("--dot", is_flag=True, help="Show a graph for Graphviz")
async def trace(env: Env, options: Options) -> Result:
    """Show each server that a message on SUBJECT reaches, and which subscribers and streams get it, or why
    nobody does. The message itself is not delivered, except with --deliver. Servers need version 2.11.

    jsctl trace diff FIRST SECOND compares two traces that were saved with --json; if they differ, the exit
    status is 2.
    """
    if options.is_diff:
        return difference(*(_read_trace(expand_home(file)) for file in options.words[1:]))
    subject, data = options.words[0], os.fsencode("".join(options.words[1:]))
    connection = await env.connection()
    documents = await trace_message(connection, subject, data, options.pairs, deliver=options.deliver)
    if options.dot:
        return dot(subject, documents)
    return tree(subject, documents, times=options.timestamp, deliver=options.deliver)


def _read_trace(path: Path) -> model.Hop:
    """Read a trace that was saved. Raises BadInput."""
    try:
        saved: Any = parse_json(read_bytes(path, "", CONFIG_SIZE))
        if not isinstance(saved, dict) or not isinstance(saved.get("traces"), list):
            raise ValueError("it is not a trace")
        return model.build(dict(map(model.parse_document, saved["traces"])))
    except ValueError as error:
        raise BadInput(f"cannot read {path}: {error}", "save one with jsctl trace SUBJECT --json") from None
