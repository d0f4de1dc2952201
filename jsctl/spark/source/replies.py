"""The collection of an answer to a request for messages. pyarrow is imported with the first message."""

from typing import TYPE_CHECKING, NamedTuple

from jsctl.errors import MalformedAnswer
from jsctl.nats.codec import ANSWER_ROOM, MAX_PAYLOAD
from jsctl.nats.direct_get import parse_direct_reply
from jsctl.nats.headers import find_header, parse_status

if TYPE_CHECKING:
    import pyarrow as pa

_LARGEST = MAX_PAYLOAD + ANSWER_ROOM
"""Maximum number of bytes of a message."""


class AnswerLimits(NamedTuple):
    """The limits of a request: messages, and bytes, which the last message may exceed.

    subject: of the request.
    """

    subject: str
    messages: int
    bytes: int


class Reply:
    """The answer to one request for messages of a stream. Raises MalformedAnswer when it is larger than
    requested.

    count: messages so far. status: code at the end (204, 404, ...), 0 before it. description: of the status.
    pending: messages that follow this answer. is_foreign: whether another stream (a mirror) answered.
    is_single: whether a reply is not part of a batch.
    """

    def __init__(self, stream: str, limits: AnswerLimits) -> None:
        self._stream = stream.encode()
        self._limits = limits
        self._bytes = 0
        self.count = 0
        self.status = 0
        self.description = ""
        self.pending = 0
        self.is_foreign = False
        self.is_single = False
        self._batches: list[pa.RecordBatch] = []
        self._columns = _create_empty_columns()

    def add(self, batch: "pa.RecordBatch") -> None:
        """Add messages of the stream, in messages.SCHEMA."""
        self._flush()
        self._batches.append(batch)
        self._count(len(batch), batch.nbytes)

    def append(
        self, subject: bytes, sequence: bytes, time: bytes, data: bytes, headers: bytes | None
    ) -> None:
        """Add one message. time: RFC 3339 (direct get), or ns since the epoch (a consumer's)."""
        subjects, sequences, times, payloads, blocks = self._columns
        subjects.append(subject)
        sequences.append(sequence)
        times.append(time)
        payloads.append(data)
        blocks.append(headers)
        self._count(1, len(data) + len(headers or b""))

    def _count(self, messages: int, size: int) -> None:
        self.count += messages
        self._bytes += size
        limits = self._limits
        if self.count > limits.messages or self._bytes > limits.bytes + _LARGEST:
            raise MalformedAnswer(limits.subject, "it has more messages than were requested")

    def decode(self, header_block: bytes, data: bytes) -> None:
        """Add the message of a direct get's reply, or record how the answer ended."""
        parsed = parse_direct_reply(header_block)
        if parsed is not None and parsed.pending is not None:
            self.is_foreign = self.is_foreign or parsed.stream != self._stream
            self.append(parsed.subject, parsed.sequence, parsed.timestamp, data, parsed.headers)
        elif not data and parsed is None:
            self.status, self.description = parse_status(header_block)
            pending = find_header(header_block, "Nats-Num-Pending")
            self.pending = int(pending) if pending.isdigit() else 0
        else:
            self.is_single = True

    def join_messages(self) -> "pa.RecordBatch":
        """Return all messages so far, in messages.SCHEMA."""
        from jsctl.spark.source import messages

        self._flush()
        return messages.join_batches(self._batches)

    def _flush(self) -> None:
        from jsctl.spark.source import messages

        if self._columns[0]:
            self._batches.append(messages.build_batch(*self._columns))
            self._columns = _create_empty_columns()


def _create_empty_columns() -> tuple[list[bytes], list[bytes], list[bytes], list[bytes], list[bytes | None]]:
    return [], [], [], [], []


def count_before(batch: "pa.RecordBatch", sequence: int) -> int:
    """Return how many messages come before `sequence`."""
    sequences = batch.column(1)
    low, high = 0, len(sequences)
    while low < high:
        middle = (low + high) // 2
        if sequences[middle].as_py() < sequence:
            low = middle + 1
        else:
            high = middle
    return low


def get_sequence(batch: "pa.RecordBatch", row: int) -> int:
    """Return the sequence of a row; -1 is the last one."""
    sequence: int = batch.column(1)[row].as_py()
    return sequence


def measure_payload(batch: "pa.RecordBatch") -> int:
    """Return the approximate bytes of payload of a batch."""
    return int(batch.column(3).nbytes)


def measure_whole(batch: "pa.RecordBatch") -> int:
    """Return the approximate bytes of payload and headers of a batch."""
    return measure_payload(batch) + int(batch.column(4).nbytes)
