"""What is in a stream, what is missing from it, and what was taken out of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jsctl.jetstream.stream.gaps import Gap
from jsctl.jetstream.stream.purge_loss import Loss
from jsctl.units import format_bytes, format_count
from jsctl.views.result import Column, Part, Result, Table, Text

Json = dict[str, Any]

_SUBJECT = (Column("Subject", "subject"), Column("Count", "count", "count"))


def subjects(
    stream: str, found: Mapping[str, int], *, wanted: str, by_name: bool, reverse: bool, names: bool
) -> Result:
    """`stream subjects`; the document maps subjects to counts, or lists them."""
    ordered = sorted(found, key=(lambda s: (0, s)) if by_name else (lambda s: (found[s], s)), reverse=reverse)
    data: Any = ordered if names else {subject: found[subject] for subject in ordered}
    if not found:
        return Result([Text(f"No subjects found matching {wanted}")], data=data)
    if names:
        return Result([Text("\n".join(ordered))], data=data)
    title = f"{format_count(len(ordered))} Subject{'' if len(ordered) == 1 else 's'} in stream {stream}"
    return Result([Table(title, _SUBJECT, [(subject, found[subject]) for subject in ordered])], data=data)


def gaps(stream: str, found: Sequence[Gap], lost: Sequence[int], lost_bytes: int) -> Result:
    """`stream gaps`; the document is a list of first and last sequences."""
    data = [list(gap) for gap in found]
    parts: list[Part] = []
    if found:
        title = f"{plural(len(found), 'gap')} found in Stream {stream}"
        columns = (
            Column("First Message", "first", "count"),
            Column("Last Message", "last", "count"),
            Column("Missing", "missing", "count"),
        )
        rows = [(first, last, last - first + 1) for first, last in found]
        parts.append(Table(title, columns, rows))
    else:
        parts.append(Text(f"No deleted messages in {stream}"))
    if lost:
        told = ", ".join(format_count(sequence) for sequence in lost[:20]) + (" …" if len(lost) > 20 else "")
        count = plural(len(lost), "message")
        parts.append(Text(f"The server lost {count} ({format_bytes(lost_bytes)}): {told}", "bad"))
    return Result(parts, data=data)


def purged(count: int, info: Json) -> str:
    """What a purge did. info: the stream as it is now."""
    return f"Purged {plural(count, 'message')} from {info['config']['name']}"


def removed(names: Sequence[str]) -> str:
    """What a removal did."""
    return "\n".join(f"Stream {name} was removed" for name in names)


def amount(loss: Loss) -> str:
    """`3 messages, 207 B`; `about` where the bytes are reckoned."""
    return f"{plural(loss.messages, 'message')}, {'' if loss.exact else 'about '}{format_bytes(loss.bytes)}"


def would_go(what: str, losses: Mapping[str, Loss]) -> Result:
    """`purge --dry-run`, `rm --dry-run`. what: the verb in the infinitive."""
    lines = [f"Would {what} Stream {name}: {amount(loss)}" for name, loss in losses.items()]
    data = [{"stream": name, **_record(loss)} for name, loss in losses.items()]
    return Result([Text("\n".join([*lines, "Nothing was changed"]))], data={"dry_run": True, "streams": data})


def question(what: str, losses: Mapping[str, Loss]) -> str:
    """The one question before streams are purged or removed."""
    if len(losses) == 1:
        name, loss = next(iter(losses.items()))
        return f"Really {what} Stream {name} ({amount(loss)})"
    listed = "; ".join(f"{name}: {amount(loss)}" for name, loss in list(losses.items())[:10])
    more = f"; and {len(losses) - 10} more" if len(losses) > 10 else ""
    return f"Really {what} {len(losses)} Streams ({amount(total(losses.values()))}: {listed}{more})"


def total(losses: Iterable[Loss]) -> Loss:
    """Several losses as one."""
    found = list(losses)
    return Loss(
        sum(one.messages for one in found), sum(one.bytes for one in found), all(one.exact for one in found)
    )


def _record(loss: Loss) -> Json:
    return {"messages": loss.messages, "bytes": loss.bytes, "exact": loss.exact}


def plural(count: int, noun: str) -> str:
    """`1 message`, `1,204 messages`."""
    return f"{format_count(count)} {noun}{'' if count == 1 else 's'}"
