"""Writing to a bucket: values with the revision that they replace, markers, and many of both at once
(ADR-8)."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager

from jsctl.base.command_lines import build_line
from jsctl.base.loops import enter_event_loop
from jsctl.base.units import SECOND
from jsctl.errors import ApiError, BadInput, JsctlError, NoResponders
from jsctl.jetstream.api import Json, is_conflict
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.entry import PUT, Entry, build_headers
from jsctl.jetstream.message.publish import PublishTotals, parse_ack
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import OutgoingMessage

_BURST = 256  #: messages handed to the connection at once

Advance = Callable[[int], None]
"""Called with the number of entries done since the last call."""


class Conflict(JsctlError):
    """A key is not at the expected revision. newest: its present entry."""

    def __init__(self, message: str, hint: str, newest: Entry) -> None:
        super().__init__(message, hint)
        self.newest = newest


def format_ttl(span: int) -> str:
    """Return the value of `Nats-TTL` for a TTL in ns; empty for 0. Raises BadInput unless it is in
    whole seconds, as servers count in these."""
    if span and (span < SECOND or span % SECOND):
        raise BadInput("--ttl must be whole seconds, 1s or more")
    return f"{span // SECOND}s" if span else ""


async def put(bucket: Bucket, key: str, value: bytes, *, ttl: str = "", expected: int | None = None) -> int:
    """Store a value; return its revision.

    ttl: from `format_ttl`. expected: the revision that the key must have, 0 for none. Raises ApiError,
    BadInput for a value that is too large, NoResponders.
    """
    return await _store(bucket, key, value, build_headers(PUT, ttl, expected))


async def create(bucket: Bucket, key: str, value: bytes, *, ttl: str = "") -> int:
    """Store a value for a key that has none: it is new, or its newest entry is a marker. Return the revision.
    Raises Conflict."""
    expected = 0
    while True:
        try:
            return await put(bucket, key, value, ttl=ttl, expected=expected)
        except ApiError as error:
            if not is_conflict(error):
                raise
            refusal = error
        from jsctl.jetstream.kv.read import fetch_newest_entry  # only where a key is in the way

        entry = await fetch_newest_entry(bucket, key)
        if entry is None or (not entry.is_value and entry.revision == expected):
            raise refusal  # it keeps changing, or it is not an ordinary bucket
        if entry.is_value:
            raise Conflict(
                f"key {bucket.decode_key(key)} already exists at revision {entry.revision}",
                f"{bucket.build_key_line('kv put', key)} replaces it, and"
                f" {bucket.build_key_line('kv update', key)} a given revision",
                entry,
            )
        expected = entry.revision


async def update(bucket: Bucket, key: str, value: bytes, expected: int, *, ttl: str = "") -> int:
    """Store a value in place of the one at a revision (0 for none); return the new revision.
    Raises Conflict, NotFound."""
    try:
        return await put(bucket, key, value, ttl=ttl, expected=expected)
    except ApiError as error:
        if not is_conflict(error):
            raise
    from jsctl.jetstream.kv.read import fetch_newest_entry, missing_key_error

    entry = await fetch_newest_entry(bucket, key)
    if entry is None:
        raise missing_key_error(bucket, key)
    raise Conflict(
        f"key {bucket.decode_key(key)} is at revision {entry.revision}, not {expected}",
        f"{bucket.build_key_line('kv history', key)} shows what it was",
        entry,
    )


async def mark(bucket: Bucket, key: str, operation: str, ttl: str = "") -> int:
    """Store a marker, DELETE or PURGE, for a key; return its revision."""
    return await _store(bucket, key, b"", build_headers(operation, ttl))


async def mark_all(bucket: Bucket, keys: Sequence[str], operation: str, ttl: str, advance: Advance) -> int:
    """Store a marker for each of many keys; return how many. Those stored before an error stay."""
    block = encode_headers(build_headers(operation, ttl))

    async def build_bursts() -> AsyncIterator[list[OutgoingMessage]]:
        for start in range(0, len(keys), _BURST):
            burst_keys = keys[start : start + _BURST]
            yield [OutgoingMessage(bucket.target + key, b"", "", block) for key in burst_keys]

    return await store_all(bucket, build_bursts(), advance)


async def store_all(
    bucket: Bucket,
    bursts: AsyncIterator[Sequence[OutgoingMessage]],
    advance: Advance,
) -> int:
    """Store many messages in their order; return how many. Raises what one of them raises."""
    totals = PublishTotals()

    def handle(message: OutgoingMessage, ack: Json | None) -> None:
        advance(1)

    from jsctl.jetstream.message.publish_acked import publish_with_acks

    with _naming_bucket(bucket):
        await publish_with_acks(bucket.api.connection, bursts, totals, handle)
    return totals.messages


def require_batches(bucket: Bucket) -> None:
    """Raise BadInput for a bucket whose stream does not allow atomic batches; a mirror's origin may."""
    config = bucket.stream_config
    if not config.get("allow_atomic") and not config.get("mirror"):
        line = build_line("stream edit", bucket.stream, flags=["--allow-batch"])
        raise BadInput(f"bucket {bucket.name} does not allow atomic batches", f"{line} allows them")


async def store_atomically(
    bucket: Bucket, bursts: AsyncIterator[Sequence[OutgoingMessage]], say: Callable[[str], None]
) -> None:
    """Store all messages as one batch, or none of them (ADR-50). say: writes a line about what is waited for.

    Raises BadInput for more messages than a batch may have, and what one of them raises."""
    from jsctl.jetstream.message.publish_atomic import MAX_BATCH, publish_atomically
    from jsctl.jetstream.message.retry_policy import RetryPolicy

    messages: list[OutgoingMessage] = []
    async for burst in bursts:
        messages += burst
        if len(messages) > MAX_BATCH:
            hint = "leave --atomic out: entries are then stored one by one"
            raise BadInput(f"there are more than {MAX_BATCH:,} entries, the most that a batch may have", hint)
    if not messages:
        return
    await enter_event_loop()  # answers arrive while others are sent
    with _naming_bucket(bucket):
        await publish_atomically(bucket.api.connection, messages, RetryPolicy(bucket.api, say))


async def _store(bucket: Bucket, key: str, value: bytes, headers: list[tuple[str, str]]) -> int:
    subject, api = bucket.target + key, bucket.api
    block = encode_headers(headers)
    api.show(f">>> {subject}", "\n".join(f"{name}: {text}" for name, text in headers))
    with _naming_bucket(bucket):
        message = OutgoingMessage(subject, value, "", block)
        reply = await api.connection.request_message(message, timeout=api.timeout)
        ack = parse_ack(subject, reply)
    api.show(f"<<< {subject}", reply.data.decode(errors="replace"))
    return int(ack.get("seq") or 0)


@contextmanager
def _naming_bucket(bucket: Bucket) -> Iterator[None]:
    """Raise errors of what stores messages with what is known of the bucket."""
    try:
        yield
    except NoResponders:
        raise _unanswered_error(bucket) from None


def _unanswered_error(bucket: Bucket) -> NoResponders:
    mirror = bucket.stream_config.get("mirror")
    if mirror:
        return NoResponders(
            f"bucket {bucket.name} cannot store values: it is a mirror whose origin does not answer",
            "write to the origin, or connect its domain",
        )
    return NoResponders(
        f"no stream stores the values of bucket {bucket.name}",
        f"{build_line('kv info', bucket.name)} shows its stream",
    )


def as_message(bucket: Bucket, entry: Entry) -> OutgoingMessage:
    """Return the message that stores an entry again, with its TTL and headers."""
    block = encode_headers([*build_headers(entry.operation, entry.ttl), *entry.headers])
    return OutgoingMessage(bucket.target + entry.key, entry.value, "", block)
