"""The pages of the live report: one stream, one consumer. Pure."""

from collections.abc import Sequence

from jsctl.monitor.report.health import check_stream
from jsctl.monitor.report.pages import ConsumerPage, StreamPage
from jsctl.monitor.report.rows import BAD, WARN
from jsctl.units import NEVER, compute_age, format_count, pluralize, to_datetime, truncate_to_seconds
from jsctl.views.consumer import info as consumer_info
from jsctl.views.consumer import why
from jsctl.views.report.panes import STYLES
from jsctl.views.result import Chart, Column, Part, Result, Table, Text
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


def stream_page(page: StreamPage, rates: Sequence[int]) -> Result:
    """Return the page of a stream: what is wrong, its rate over time, consumers, configuration and state,
    subjects. rates: stored per second, over time."""
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
    parts += stream_info.sheet(info).parts
    parts += _list_subjects(page)
    return Result(parts, data=info)


def consumer_page(page: ConsumerPage, lags: Sequence[int]) -> Result:
    """Return the page of a consumer: why it is as it is, its lag over time, configuration and state.
    lags: messages, over time."""
    facts = page.facts
    parts: list[Part] = list(why.explained(facts.stream_name, facts.name, page.causes).parts)
    if any(lags):
        parts.append(_build_chart("Messages that are not delivered yet", lags))
    if facts.consumer:
        parts += consumer_info.sheet(facts.consumer).parts
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


def _list_subjects(page: StreamPage) -> list[Part]:
    if page.subjects is None:
        count = pluralize(int(page.info["state"].get("num_subjects", 0)), "subject")
        name = page.info["config"]["name"]
        return [Text(f"{count}: jsctl stream subjects {name} lists them")]
    if not page.subjects:
        return []
    largest = sorted(page.subjects.items(), key=lambda pair: (-pair[1], pair[0]))
    title = pluralize(len(largest), "Subject")
    if len(largest) > _TOP:
        title += f", the {_TOP} with the most messages"
    return [Table(title, _SUBJECTS, largest[:_TOP])]
