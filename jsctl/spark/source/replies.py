"""What comes back to a request for messages. Nothing here loads pyarrow before there are some."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[bytes, bytes, bytes, bytes, bytes | None]
"""Subject, sequence, time, payload, headers. The time is RFC 3339 (direct get) or ns since the epoch (a
consumer's); the headers are as in messages.SCHEMA."""

TAIL = (b"Nats-Sequence: ", b"Nats-Time-Stamp: ", b"Nats-Num-Pending: ", b"Nats-Last-Sequence: ")
"""How the server ends the headers of a batch direct get's reply, after `Nats-Stream` and `Nats-Subject`
(server/stream.go)."""


class Reply:
    """What came back to one request.

    count: how many stream messages. status: 204, 404, ...; 0 until the end. foreign: another stream (a
    mirror) answered. message: the last (headers, payload) that was no stream message.
    """

    def __init__(self) -> None:
        self.count = 0
        self.status = 0
        self.description = ""
        self.pending = 0
        self.foreign = False
        self.message: tuple[bytes, bytes] | None = None
        self._batches: list[pa.RecordBatch] = []
        self._rows: list[Row] = []

    def add(self, batch: "pa.RecordBatch") -> None:
        """Stream messages, in messages.SCHEMA."""
        self._flush()
        self._batches.append(batch)
        self.count += len(batch)

    def add_one(self, row: Row) -> None:
        self._rows.append(row)
        self.count += 1

    def messages(self) -> "pa.RecordBatch":
        """All that came until now, in messages.SCHEMA."""
        from jsctl.spark.source import messages

        self._flush()
        return messages.join(self._batches)

    def _flush(self) -> None:
        from jsctl.spark.source import messages

        if self._rows:
            self._batches.append(messages.batch(self._rows))
            self._rows = []


def before(batch: "pa.RecordBatch", sequence: int) -> int:
    """How many messages come before `sequence`."""
    sequences = batch.column(1)
    low, high = 0, len(sequences)
    while low < high:
        middle = (low + high) // 2
        if sequences[middle].as_py() < sequence:
            low = middle + 1
        else:
            high = middle
    return low


def sequence_of(batch: "pa.RecordBatch", row: int) -> int:
    """The sequence of a row; -1 is the last one."""
    found: int = batch.column(1)[row].as_py()
    return found


def size(batch: "pa.RecordBatch") -> int:
    """Bytes of payload, about."""
    return int(batch.column(3).nbytes)
