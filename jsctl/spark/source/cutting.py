"""Splitting long runs of replies to direct gets into columns, without running Python code for each message.

numpy finds all line ends of a run at once. The end of a reply follows from the sizes in its first line, and
must be the beginning of the next one, so that a payload that looks like a reply is noticed. An unexpected
reply ends the run, and is parsed separately, as are all other messages (see `connection`).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jsctl.nats.direct_get import TAIL
from jsctl.nats.headers import VERSION
from jsctl.spark.source.messages import SCHEMA, TIME

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

END = b"\r\n"
_NO_STATUS = VERSION + END
_SEQUENCE, _TIME = END + TAIL[0], END + TAIL[1]
_ADDED = 2 + len(TAIL)  #: lines that the server adds to the stored headers
_SID = b" 1 "  #: the number of the subscription, after the subject


class _Replies(NamedTuple):
    """Replies as positions in a run, of header values without their names."""

    begin: Ints
    headers: Ints
    headers_end: Ints
    subject: Ints
    subject_end: Ints
    time: Ints
    time_end: Ints
    data: Ints
    data_end: Ints
    sequence: Ints  #: the number itself

    def to_batch(self, run: memoryview) -> pa.RecordBatch:
        """Return the messages. Raises ArrowInvalid for an invalid time."""
        count = len(self.begin)
        # The block of a message without headers is always the same.
        has_headers = bool((self.headers_end - self.headers != len(VERSION)).any())
        parts = self[3:9] if not has_headers else self[1:9]
        # All values and the bytes between them as one array, without a copy; then the values are selected.
        edges = np.empty((count, len(parts)), np.int32)
        for at, part in enumerate(parts):
            edges[:, at] = part
        buffers: list[Any] = [None, pa.py_buffer(edges), pa.py_buffer(run)]
        pieces = pa.Array.from_buffers(pa.binary(), edges.size - 1, buffers)
        places = np.arange(0, edges.size, 2, dtype=np.int32).reshape(count, -1).T.ravel()
        values = pc.take(pieces, pa.array(places), boundscheck=False)
        *headers, subjects, times, payloads = (
            values[n * count : (n + 1) * count] for n in range(len(parts) // 2)
        )
        columns = [
            subjects,
            pa.array(self.sequence),
            times.view(pa.string()).cast(TIME),
            payloads,
            headers[0] if headers else pa.repeat(pa.scalar(VERSION, pa.binary()), count),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def cut_run(
    run: memoryview, mark: bytes, keys: Iterable[bytes], middle: bytes
) -> tuple[list[tuple[bytes, pa.RecordBatch]], int]:
    """Cut the replies at the beginning of a run that have the expected form and are followed by another.

    Args:
        run: bytes that begin with a reply.
        mark: a line end, and the beginning of a reply, up to the key of its request.
        keys: of the requests.
        middle: the bytes between the stored headers and the subject.

    Returns (key of the request, messages) for each request, and the position of the remaining bytes.
    """
    if len(run) < len(mark) + len(middle):
        return [], 0
    replies, end = _find_replies(run, mark, middle)
    if not end:
        return [], 0
    try:
        batch = replies.to_batch(run)
    except pa.ArrowInvalid:
        return [], 0
    batches = []
    for key in keys:
        is_of_key = _match_at(run, replies.begin + len(mark) - len(END), key + _SID)
        if is_of_key.all():
            return [(key, batch)], end
        if is_of_key.any():
            batches.append((key, batch.filter(pa.array(is_of_key))))
    return batches, end


def _find_replies(run: memoryview, mark: bytes, middle: bytes) -> tuple[_Replies, int]:
    """Return the replies of the expected form, and the end of the last one."""
    characters = np.frombuffer(run, np.uint8)
    lines = np.flatnonzero(characters == END[0])
    # Few lines are followed by a possible mark.
    likely = np.flatnonzero(characters.take(lines + len(END), mode="clip") == mark[len(END)])
    marks = likely[_match_at(run, lines[likely], mark)]
    begins = np.concatenate([[0], lines[marks] + len(END)])
    first = np.concatenate([[0], marks + 1])[:-1]
    # An assumed number or line may be anything until all of it has been compared.
    head_end = lines[first]
    total, total_digits = _parse_numbers(run, head_end)
    header_size, _ = _parse_numbers(run, head_end - total_digits - 1)
    headers = head_end + len(END)
    data, data_end = headers + header_size, headers + total
    blank = np.minimum(np.searchsorted(lines, data - len(END)), len(lines) - 1)
    stored = np.maximum(blank - _ADDED - 1, 0)
    headers_end, stream_end, subject_end, sequence_end, time_end = (
        lines.take(stored + added, mode="clip") for added in range(5)
    )
    sequence, digits = _parse_numbers(run, sequence_end)
    is_expected = (
        (data_end + len(END) == begins[1:])
        & (data <= data_end)
        & (lines[blank] == data - len(END))
        & (stored > first)
        & (stream_end - headers_end == middle.rindex(END))
        & (sequence_end - digits == subject_end + len(_SEQUENCE))
        & _match_at(run, headers, _NO_STATUS)
        & _match_at(run, headers_end, middle)
        & _match_at(run, subject_end, _SEQUENCE)
        & _match_at(run, sequence_end, _TIME)
    )
    count = len(first) if is_expected.all() else int(is_expected.argmin())
    subject, time = headers_end + len(middle), sequence_end + len(_TIME)
    places = (begins, headers, headers_end, subject, subject_end, time, time_end, data, data_end, sequence)
    return _Replies(*(place[:count] for place in places)), int(begins[count])


def _match_at(run: memoryview, at: Ints, text: bytes) -> Flags:
    """Return whether a text is at each of some positions of a run."""
    size, last = len(text), len(run) - len(text)
    windows = np.ndarray(
        (last + 1,), f"V{size}", run, 0, (1,)
    )  # the bytes from each position on, without a copy
    characters = windows[np.minimum(at, last)].tobytes()
    if characters == text * len(at):
        return at <= last
    rows = np.frombuffer(characters, np.uint8).reshape(len(at), size)
    is_equal: Flags = (rows == np.frombuffer(text, np.uint8)).all(axis=1)
    return is_equal & (at <= last)


def _parse_numbers(run: memoryview, ends: Ints) -> tuple[Ints, Ints]:
    """Return the decimal numbers that end at positions of a run, and their numbers of digits; 0 for none, or
    for more than 18."""
    value, digits = _parse_last_digits(run, ends)
    for width in (8, 16):
        is_longer = digits == width
        if not is_longer.any():
            return value, digits
        upper, upper_digits = _parse_last_digits(run, ends - width)
        value += np.where(is_longer, upper * 10**width, 0)
        digits += np.where(is_longer, upper_digits, 0)
    return value, np.where(digits > 18, 0, digits)


_ZEROS = np.uint64(0x3030303030303030)
_LOW_BITS, _HIGH_BIT = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)
_BEYOND_9 = np.uint64(0x7676767676767676)
_EVERY_FOURTH = np.uint64(0x000000FF000000FF)
_TEN, _BYTE, _TWO, _FOUR, _THREE_BITS = (np.uint64(number) for number in (10, 8, 16, 32, 3))
_PLACES = np.uint64(100 + (1_000_000 << 32)), np.uint64(1 + (10_000 << 32))


def _parse_last_digits(run: memoryview, ends: Ints) -> tuple[Ints, Ints]:
    """Return the numbers in the digits among the 8 bytes before each position of a run, and the counts of
    digits.

    The 8 bytes are processed at once, as one integer whose highest byte is the last digit.
    """
    words = np.ndarray((len(run) - 7,), "<u8", run, 0, (1,))
    values = words[np.minimum(np.maximum(ends - 8, 0), len(words) - 1)] ^ _ZEROS  # digits are 0 to 9 now
    non_digits = (((values & _LOW_BITS) + _BEYOND_9) | values) & _HIGH_BIT
    # The exponent gives the highest byte that is not a digit, in bits; all up to it is cut off.
    bits = np.frexp(non_digits.astype(np.float64))[1].astype(np.uint64)
    values = (values >> bits) << bits
    pairs = values * _TEN + (values >> _BYTE)
    fours = (pairs & _EVERY_FOURTH) * _PLACES[0] + ((pairs >> _TWO) & _EVERY_FOURTH) * _PLACES[1]
    return (fours >> _FOUR).view(np.int64), 8 - (bits >> _THREE_BITS).view(np.int64)
