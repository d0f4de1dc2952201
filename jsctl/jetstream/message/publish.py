"""Publishing without acks, many messages in bursts; and functions that all ways of publishing share."""

import re
from collections.abc import AsyncIterable, Callable, Sequence

from jsctl.base.command_lines import build_flag, build_line
from jsctl.errors import ApiError, Denied, JsctlError, MalformedAnswer, NoResponders
from jsctl.jetstream.api import Json, parse_response
from jsctl.nats.codec import BURST, encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.events import ConnectionEvent, PermissionDenied
from jsctl.nats.message import Message, OutgoingMessage, is_no_responders

Bursts = AsyncIterable[Sequence[OutgoingMessage]]


class PublishTotals:
    """The totals of publishing so far. bytes: of data. acks: the first hundred. streams: the first and last
    sequence in each. unsure: number of messages that may be stored without an ack, if publishing ended
    early. refused: number of those that are certainly not stored, as the login may not publish them."""

    def __init__(self) -> None:
        self.messages = 0
        self.bytes = 0
        self.duplicates = 0
        self.unsure = 0
        self.refused = 0
        self.streams: dict[str, tuple[int, int]] = {}
        self.acks: list[Json] = []

    def add(self, ack: Json) -> None:
        """Count an ack."""
        stream, sequence = str(ack.get("stream", "")), int(ack.get("seq", 0))
        first, last = self.streams.get(stream, (sequence, sequence))
        self.streams[stream] = min(first, sequence), max(last, sequence)
        self.duplicates += bool(ack.get("duplicate"))
        if len(self.acks) < 100:
            self.acks.append(ack)


PublishedHandler = Callable[[OutgoingMessage, Json | None], None]
"""Called for each message that was published, with its ack when there is one."""

SentHandler = Callable[[Sequence[OutgoingMessage]], None]
"""Called with groups of messages that were published without acks."""


async def publish(
    connection: Connection,
    bursts: Bursts,
    totals: PublishTotals,
    handle_sent: SentHandler,
    *,
    confirm: bool = False,
) -> None:
    """Publish without acks; return when the server has everything.

    confirm: wait for the server before each `handle_sent`. Raises Denied, BadInput, Unreachable.
    """
    refusals: list[Denied] = []

    def watch(event: ConnectionEvent) -> bool:
        if isinstance(event, PermissionDenied) and event.operation == "publish":
            refusals.append(event.to_error())
            return True
        return False

    with connection.watching(watch):
        async for burst in bursts:
            await _send_burst(connection, burst, totals, handle_sent, confirm, refusals)
        await connection.flush()
        if refusals:
            raise refusals[0]


async def _send_burst(
    connection: Connection,
    burst: Sequence[OutgoingMessage],
    totals: PublishTotals,
    handle_sent: SentHandler,
    confirm: bool,
    refusals: Sequence[Denied],
) -> None:
    largest = connection.max_payload
    at = 0
    last: OutgoingMessage | None = None
    framed = b""
    while at < len(burst):
        block: list[bytes] = []
        first, size = at, 0
        while at < len(burst) and size < BURST:
            message = burst[at]
            if message is not last:  # messages without templates are the same one repeatedly
                if len(message.header_block) + len(message.data) > largest:
                    connection.check_size(message)
                framed = encode_publish(message.subject, message.data, message.reply, message.header_block)
                last = message
            block.append(framed)
            size += len(framed)
            at += 1
        await connection.send(b"".join(block))
        if confirm:
            await connection.flush()
        if refusals:
            raise refusals[0]
        sent = burst[first:at]
        totals.messages += len(sent)
        totals.bytes += sum([len(message.data) for message in sent])
        handle_sent(sent)


def parse_ack_sequence(subject: str, ack: Json) -> int:
    """Return the sequence in an acknowledgement. Raises MalformedAnswer when it has none."""
    sequence = ack.get("seq")
    if not isinstance(sequence, int) or sequence < 1:
        raise MalformedAnswer(subject, "seq is not a sequence")
    return sequence


# server/stream.go: setupPublishAck writes the names in front of the sequence.
_USUAL_ACK = rb'\{"stream":"([ -!#-[\]-~]+)", ?(?:"domain":"([ -!#-[\]-~]+)", ?)?"seq":([1-9][0-9]{0,17})\}'


def parse_ack(subject: str, reply: Message) -> Json:
    """Parse the acknowledgement of a message that was published to `subject`.

    Raises NoResponders, ApiError, and JsctlError when it does not come from a stream.
    """
    if usual := re.fullmatch(_USUAL_ACK, reply.data):  # in a fifth of the time
        stream, domain, sequence = usual.groups()
        ack: Json = {"stream": stream.decode()}
        if domain:
            ack["domain"] = domain.decode()
        ack["seq"] = int(sequence)
        return ack
    if is_no_responders(reply):
        raise NoResponders(
            f"no stream stores {subject}",
            f"{build_line('stream ls')} lists the streams;"
            f" {build_line('stream find', flags=build_flag('--subject', subject))} finds those of a subject",
        )
    try:
        return parse_response(reply.data, subject)
    except ApiError:
        raise
    except JsctlError:
        raise JsctlError(
            f"the reply on {subject} is not from a stream",
            "publish without --jetstream, or use jsctl request",
        ) from None
