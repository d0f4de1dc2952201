"""The pages of the live report: one stream, one consumer. Pure."""

from collections.abc import Sequence

from jsctl.base.command_lines import build_line
from jsctl.base.units import NEVER, compute_age, format_count, pluralize, to_datetime, truncate_to_seconds
from jsctl.errors import JsctlError
from jsctl.monitor.report.pages import ConsumerPage, StreamPage
from jsctl.monitor.rules.streams import check_stream
from jsctl.monitor.trouble import BAD, WARN
from jsctl.views.consumer import info as consumer_info
from jsctl.views.consumer import why
from jsctl.views.result import Chart, Column, Part, Result, Table, Text
from jsctl.views.shared.figures import STYLES
from jsctl.views.stream import info as stream_info

_CONSUMERS = (
    Column("Consumer", "consumer"),
    Column("Lag", "lag", "count"),
    Column("Unacked", "ack_pending", "count"),
    Column("Redelivered", "redelivered", "count"),
    Column("Last Delivery", "last", "ago"),
)
_SUBJECTS = (Column("Subject", "subject"), Column("Messages", "messages", "count"))
_TOP = 20  #: subjects that are listed


def stream_page(page: StreamPage, rates: Sequence[int], place: Sequence[str]) -> Result:
    """Return the page of a stream: what is wrong, its rate over time, consumers, configuration and state,
    subjects. rates: stored per second, over time. place: the flags of command lines for it."""
    info = page.info
    parts: list[Part] = [
        Text(trouble.words, STYLES[BAD if trouble.bad else WARN])
        for trouble in check_stream(info, to_datetime(info["ts"]) if info.get("ts") else _EPOCH)
    ]
    if any(rates):
        parts.append(_build_chart("Messages stored per second", rates))
    if page.consumers:
        parts.append(
            Table("Consumers", _CONSUMERS, [_build_consumer_row(consumer) for consumer in page.consumers])
        )
    parts += stream_info.info_page(info).parts
    parts += _list_subjects(page, place)
    return Result(parts, data=info)


def place_page(failure: JsctlError | None, place: Sequence[str]) -> Result:
    """Return the page of a context or domain: why it does not answer, and what to do. place: the flags of
    command lines for it."""
    lines: list[Part] = [
        Text("it answers again", "good") if failure is None else Text(failure.message, "bad")
    ]
    if failure is not None and failure.hint:
        lines.append(Text(failure.hint))
    lines.append(Text(f"what is wrong with it: {build_line('doctor', place=place)}"))
    lines.append(Text(f"whether it answers: {build_line('rtt', place=place)}"))
    return Result(lines)


def consumer_page(page: ConsumerPage, lags: Sequence[int], place: Sequence[str]) -> Result:
    """Return the page of a consumer: why it is as it is, its lag over time, configuration and state.
    lags: messages, over time. place: the flags of command lines for it."""
    facts = page.facts
    parts: list[Part] = list(why.explained(facts.stream_name, facts.name, page.causes, place).parts)
    if any(lags):
        parts.append(_build_chart("Messages that are not delivered yet", lags))
    if facts.consumer:
        parts += consumer_info.info_page(facts.consumer).parts
    return Result(parts, data=facts.consumer)


_EPOCH = to_datetime(0)


def _build_chart(caption: str, values: Sequence[int]) -> Chart:
    text = f"{caption}: {format_count(values[-1])}, at most {format_count(max(values))}"
    return Chart(text, list(map(float, values)), "dots", 4)


def _build_consumer_row(info: dict[str, object]) -> list[object]:
    delivered = info.get("delivered")
    last_active = delivered.get("last_active") if isinstance(delivered, dict) else None
    since = compute_age(last_active, str(info.get("ts") or ""))
    return [
        info.get("name"),
        info.get("num_pending", 0),
        info.get("num_ack_pending", 0),
        info.get("num_redelivered", 0),
        since if since == NEVER else truncate_to_seconds(since),
    ]


def _list_subjects(page: StreamPage, place: Sequence[str]) -> list[Part]:
    if page.subjects is None:
        count = pluralize(int(page.info["state"].get("num_subjects", 0)), "subject")
        name = page.info["config"]["name"]
        return [Text(f"{count}: {build_line('stream subjects', name, place=place)} lists them")]
    if not page.subjects:
        return []
    largest = sorted(page.subjects.items(), key=lambda pair: (-pair[1], pair[0]))
    title = pluralize(len(largest), "Subject")
    if len(largest) > _TOP:
        title += f", the {_TOP} with the most messages"
    return [Table(title, _SUBJECTS, largest[:_TOP])]
