"""Published messages: `publish`."""

from collections.abc import AsyncGenerator, Sequence

from jsctl.base import units
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.publish import PublishTotals
from jsctl.jetstream.message.publisher import Mode, Published, Publisher
from jsctl.views.events import Ending, Events, Presentation
from jsctl.views.result import Lines, Result, Text


def events(
    publisher: Publisher, batches: AsyncGenerator[Sequence[Published], None], *, quiet: bool
) -> Events[Published]:
    """Return the messages of a publisher, each with its views, and the totals at the end."""

    def summary(ending: Ending) -> str:
        return "" if ending == "complete" else stopped(publisher.totals, publisher.mode)

    def result() -> Result | None:
        if publisher.batch_ack is not None:
            return None if quiet else batch(publisher.batch_ack)
        return totals(publisher.totals, publisher.seconds, quiet=quiet or publisher.reports)

    return Events(
        batches=batches,
        shown=Presentation(
            text=lambda published: stored(published.ack) + "\n" if published.ack else "",
            record=lambda published: None,
            notice=notice,
        ),
        summary=summary,
        result=result,
    )


def stopped(totals: PublishTotals, mode: Mode) -> str:
    """Return the line about what was published before an early end; empty when nothing was."""
    if mode == "plain":
        return f"Stopped after {units.pluralize(totals.messages, 'message')}" if totals.messages else ""
    unsure = (
        f"{units.pluralize(totals.unsure, 'message')} may be stored without an ack" if totals.unsure else ""
    )
    refused = (
        f"{units.pluralize(totals.refused, 'message')} {'was' if totals.refused == 1 else 'were'} refused and"
        f" {'is' if totals.refused == 1 else 'are'} not stored"
        if totals.refused
        else ""
    )
    rest = "; ".join(filter(None, (unsure, refused)))
    if not totals.messages:
        return f"Stopped: {rest}" if rest else ""
    acknowledged = f"Stopped after the acks of {units.pluralize(totals.messages, 'message')}"
    return f"{acknowledged}; {rest}" if rest else acknowledged


def notice(published: Published) -> str:
    """Return the line on stderr for a message."""
    return f'Published {len(published.message.data)} bytes to "{published.message.subject}"'


def stored(ack: Json) -> str:
    """Return the line of an ack: `Stored in Stream: ORDERS Sequence: 12`."""
    line = f"Stored in Stream: {ack.get('stream', '')} Sequence: {units.format_count(int(ack.get('seq', 0)))}"
    if ack.get("domain"):
        line += f' Domain: "{ack["domain"]}"'
    if ack.get("duplicate"):
        line += " Duplicate: true"
    if ack.get("val"):
        line += f" Counter Value: {ack['val']}"
    return line


def batch(ack: Json) -> Result:
    """Return the result of an atomic batch."""
    line = (
        f"Wrote batch ID: {ack.get('batch', '')} Messages: {units.format_count(int(ack.get('count', 0)))}"
        f" Sequence: {units.format_count(int(ack.get('seq', 0)))}"
    )
    if ack.get("domain"):
        line += f' Domain: "{ack["domain"]}"'
    return Result([Text(line)], data=ack)


def totals(totals: PublishTotals, seconds: float, *, quiet: bool) -> Result:
    """Return the totals; the document of a single message is its ack. quiet: show people nothing."""
    if totals.messages == 1 and totals.acks:
        data: Json = totals.acks[0]
    else:
        data = {"messages": totals.messages, "bytes": totals.bytes, "seconds": round(seconds, 6)}
        if totals.streams:
            data["streams"] = [
                {"stream": name, "first_seq": first, "last_seq": last}
                for name, (first, last) in totals.streams.items()
            ]
            data["duplicates"] = totals.duplicates
    if quiet:
        return Result(data=data)
    rate = totals.messages / seconds if seconds > 0 else 0
    lines = [
        f"Published {units.pluralize(totals.messages, 'message')},"
        f" {units.format_bytes(totals.bytes)} in {units.format_duration(round(seconds * units.SECOND))},"
        f" {units.format_count(round(rate))} messages per second"
    ]
    for name, (first, last) in totals.streams.items():
        lines.append(f"Stored in Stream: {name} Sequences: {first:,} to {last:,}")
    if totals.duplicates:
        lines.append(f"Duplicates: {totals.duplicates:,}")
    return Result([Lines(lines)], data=data)
