"""Published messages: `publish`."""

from collections.abc import AsyncGenerator, Sequence

from jsctl.base import units
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.publish import PublishTotals
from jsctl.jetstream.message.publisher import Mode, Published, Publisher
from jsctl.views.events import Ending, Events, Presentation
from jsctl.views.result import Result


def events(
    publisher: Publisher, batches: AsyncGenerator[Sequence[Published], None], *, quiet: bool
) -> Events[Published]:
    """Return the messages of a publisher, each with its views, and the totals at the end.

    What people read is on stderr, also in a pipe, as with `nats`; quiet: there is nothing but errors.
    """

    def summary(ending: Ending) -> str:
        if ending != "complete":
            return stopped(publisher.totals, publisher.mode)
        if quiet or publisher.reports:
            return ""
        if publisher.batch_ack is not None:
            return batch(publisher.batch_ack)
        return total_lines(publisher.totals, publisher.seconds)

    def result() -> Result:
        return Result(data=publisher.batch_ack or document(publisher.totals, publisher.seconds))

    return Events(
        batches=batches,
        shown=Presentation(record=lambda published: None, notice=None if quiet else notice),
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
    """Return the lines on stderr for a message, and for its ack."""
    line = f'Published {len(published.message.data)} bytes to "{published.message.subject}"'
    return f"{line}\n{stored(published.ack)}" if published.ack else line


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


def batch(ack: Json) -> str:
    """Return the line about an atomic batch."""
    line = (
        f"Wrote batch ID: {ack.get('batch', '')} Messages: {units.format_count(int(ack.get('count', 0)))}"
        f" Sequence: {units.format_count(int(ack.get('seq', 0)))}"
    )
    return line + (f' Domain: "{ack["domain"]}"' if ack.get("domain") else "")


def document(totals: PublishTotals, seconds: float) -> Json:
    """Return the totals; those of a single message are its ack."""
    if totals.messages == 1 and totals.acks:
        return totals.acks[0]
    data: Json = {"messages": totals.messages, "bytes": totals.bytes, "seconds": round(seconds, 6)}
    if totals.streams:
        data["streams"] = [
            {"stream": name, "first_seq": first, "last_seq": last}
            for name, (first, last) in totals.streams.items()
        ]
        data["duplicates"] = totals.duplicates
    return data


def total_lines(totals: PublishTotals, seconds: float) -> str:
    """Return the totals as lines."""
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
    return "\n".join(lines)
