"""Messages pulled from a consumer: `consumer next`."""

from collections.abc import Callable

from jsctl.base.units import (
    format_clock,
    format_count,
    format_exact_duration,
    format_rfc3339,
    pluralize,
    seconds_to_ns,
)
from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.deliveries import Acknowledgement, Deliveries, Delivery
from jsctl.jetstream.message.payload import encode_field, encode_headers_field, format_payload
from jsctl.nats.acks import ACK, NAK, TERM
from jsctl.nats.message import Message
from jsctl.views.events import Ending, Events, Presentation
from jsctl.views.message.decoded import Lens

_ACKNOWLEDGED = {
    ACK: "Acknowledged message",
    NAK: "Negative Acknowledged message",
    TERM: "Terminated message",
}


def _replace_data(event: Delivery | Acknowledgement, data: bytes) -> Delivery | Acknowledgement:
    return event._replace(message=event.message.with_data(data)) if isinstance(event, Delivery) else event


LENS: Lens[Delivery | Acknowledgement] = Lens(
    lambda event: event.message if isinstance(event, Delivery) else None, _replace_data
)


def events(
    deliveries: Deliveries, clock: Callable[[], float], *, raw: bool
) -> Events[Delivery | Acknowledgement]:
    """Return the messages, each with its views, and the exit status. clock: seconds since the epoch."""
    limit = deliveries.limit
    return Events(
        batches=deliveries.read_batches(),
        shown=Presentation(
            text=raw_text if raw else text_view(clock),
            record=record,
            folds="" if raw else "first",
            raw=raw_bytes if raw else None,
            layout="single" if limit == 1 else "array",
            indent=2,
            awaits_reader=True,
        ),
        summary=lambda ending: summary(deliveries, ending),
        result=lambda: ExitStatus.OK if deliveries.received >= limit else ExitStatus.NOT_FOUND,
    )


def text_view(clock: Callable[[], float]) -> Callable[[Delivery | Acknowledgement], str]:
    """Return the view for people. Messages that are not acknowledged have an empty line between them."""
    separator = ""

    def text(event: Delivery | Acknowledgement) -> str:
        nonlocal separator
        if isinstance(event, Acknowledgement):
            separator = ""
            after = f" after {format_exact_duration(event.delay)} delay" if event.delay else ""
            return f"\n{_ACKNOWLEDGED[event.ack]}{after}\n\n"
        output = separator + message(event.message, clock()) + "\n"
        separator = "" if event.ack else "\n"
        return f"{output}\n{_ACKNOWLEDGED[event.ack]}\n\n" if event.ack else output

    return text


def message(message: Message, now: float) -> str:
    """Return a message as the `nats` tool shows it. now: seconds since the epoch."""
    if metadata := message.metadata:
        lines = [
            f"[{format_clock(seconds_to_ns(now))}] subj: {message.subject} / tries: {metadata.delivered}"
            f" / cons seq: {metadata.consumer_sequence} / str seq: {metadata.sequence}"
            f" / pending: {format_count(metadata.pending)}"
        ]
    else:
        lines = [f"--- subject: {message.subject}" + (f" reply: {message.reply}" if message.reply else "")]
    if headers := message.headers:
        lines += ["", "Headers:", "", *(f"  {name}: {value}" for name, value in headers), "", "Data:", ""]
    return "\n".join([*lines, "", format_payload(message.data)])


def raw_text(event: Delivery | Acknowledgement) -> str:
    """Return the payload for a terminal."""
    return format_payload(event.message.data) + "\n" if isinstance(event, Delivery) else ""


def raw_bytes(event: Delivery | Acknowledgement) -> bytes:
    """Return the payload and a line end."""
    return event.message.data + b"\n" if isinstance(event, Delivery) else b""


def record(event: Delivery | Acknowledgement) -> Json | None:
    """Return a message as JSON: what `pub --from-dump` reads, and where it is in its consumer."""
    if not isinstance(event, Delivery):
        return None
    message = event.message
    record: Json = {}
    if metadata := message.metadata:
        record = {
            "sequence": metadata.sequence,
            "time": format_rfc3339(metadata.time),
            "stream": metadata.stream,
            "consumer": metadata.consumer,
            "consumer_sequence": metadata.consumer_sequence,
            "delivered": metadata.delivered,
            "pending": metadata.pending,
        }
    record["subject"] = message.subject
    if message.header_block:
        record |= encode_headers_field(message.headers)
    return {**record, **encode_field("data", message.data)}


def summary(deliveries: Deliveries, ending: Ending) -> str:
    """Return lines about acks that nobody received, and messages that did not arrive; empty for neither."""
    if ending != "complete":
        return ""
    lines = []
    if ignored := deliveries.acks.unanswered:
        lines.append(
            f"jsctl: nobody received {format_count(ignored)} of {format_count(deliveries.acks.sent)}"
            " acknowledgements: the consumer does not need any, or its $JS.ACK subjects are not imported"
        )
    received, limit = deliveries.received, deliveries.limit
    if received < limit:
        lines.append(
            f"jsctl: {format_count(received)} of {pluralize(limit, 'message')};"
            f" no more arrived in {format_exact_duration(deliveries.timeout)}"
        )
    return "\n".join(lines)
