"""Messages as people see them. The text is not cleaned yet: whoever prints it does that."""

import json
from typing import Any

from jsctl import units
from jsctl.jetstream.message import payload
from jsctl.nats.headers import Headers, parse_headers
from jsctl.nats.message import Message
from jsctl.views.result import Column, Result, Table, Text


def heading(number: int, item: Message, stamp: str = "") -> str:
    """`[#1] Received on "orders.new"`; from a stream with its sequence, what is left, and its time."""
    meta = item.metadata
    if meta is None:
        reply = f' with reply "{item.reply}"' if item.reply else ""
        return f'[#{number}]{stamp} Received on "{item.subject}"{reply}\n'
    return (
        f"[#{number}]{stamp} Received JetStream message: stream: {meta.stream} seq: {meta.sequence:,} /"
        f" pending: {meta.pending:,} / subject: {item.subject} / time: {units.format_time_us(meta.time)}\n"
    )


def matched(number: int, reply: Message, stamp: str = "") -> str:
    """The line above a reply to a request that was shown."""
    return f'[#{number}]{stamp} Matched reply on "{reply.subject}"\n'


def content(item: Message, *, headers_only: bool = False, pretty: bool = False) -> str:
    """Headers, an empty line, payload, an empty line."""
    head = header_lines(parse_headers(item.header_block)) + "\n" if item.header_block else ""
    if headers_only:
        return head
    return f"{head}{body(item.data, pretty)}\n\n"


def header_lines(pairs: Headers) -> str:
    """One header a line, whatever it holds."""
    return "".join(f"{key}: {value}".replace("\n", "\\n") + "\n" for key, value in pairs)


def body(data: bytes, pretty: bool = False) -> str:
    """A payload without the line end that closes it."""
    if not data:
        return "nil body"
    if pretty:
        try:
            return json.dumps(json.loads(data), indent=2, ensure_ascii=False)
        except ValueError:
            pass
    return payload.shown(data).removesuffix("\n")


def subjects(counts: dict[str, list[int]], top: int) -> Result:
    """Subjects (or subscriptions) by messages, the busiest first. `counts`: messages and bytes of each."""
    order = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
    columns = [Column("Subject", "subject"), Column("Message Count", "messages", "count"),
               Column("Bytes", "bytes", "bytes")]  # fmt: skip
    rows: list[list[Any]] = [[subject, *numbers] for subject, numbers in order]
    shown = rows[:top]
    footer = ["Totals", sum(row[1] for row in rows), sum(row[2] for row in rows)]
    title = "Top Subject Report" if top == 1 else f"Top {top} Active Subjects Report"
    if len(rows) > top:
        title += f", of {len(rows):,}"
    table = Table(title, columns, shown, footer)
    return Result([table], data=Table("", columns, rows).records())


def rates(series: dict[str, list[int]], width: int, height: int) -> Result:
    """Messages a second of each subject, the last on the right, as bars `height` rows high."""
    parts = [Text("\n".join(_plot(subject, values, width, height))) for subject, values in series.items()]
    return Result(parts, data=series)


_BARS = " ▁▂▃▄▅▆▇█"


def _plot(subject: str, values: list[int], width: int, height: int) -> list[str]:
    room = max(width - 12, 10)
    shown = values[-room:]
    most = max([*shown, 1])
    lines = []
    for row in range(height - 1, -1, -1):
        bars = "".join(_BARS[max(0, min(8, round(value * height * 8 / most) - row * 8))] for value in shown)
        label = f"{most:,}" if row == height - 1 else "0" if row == 0 else ""
        lines.append(f"{label:>9} ┤{bars}".rstrip())
    last = values[-1] if values else 0
    return [*lines, f"{'':>11}{subject}: {last:,} / second"]
