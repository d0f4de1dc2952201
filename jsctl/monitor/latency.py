"""The latency of messages from one connection to another, each of which carries the time it was sent."""

import asyncio
import random
import struct
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError, RequestTimeout
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message

PERCENTILES = (10.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999, 99.99999, 100.0)
SMALLEST = 8
"""Bytes that a message needs to carry its time."""

_TIME = struct.Struct("<q")
_DRAIN = 5.0  #: seconds for the last messages to arrive


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement. Times are in ns.

    latencies: in the order of arrival. lost: messages that never arrived. before: from the start of the
    command to the first message. sending: until the last was sent. receiving: until the last arrived.
    """

    publisher_rtt: int
    subscriber_rtt: int
    latencies: "array[int]"
    lost: int
    before: int
    sending: int
    receiving: int

    def ordered(self) -> list[int]:
        """Return the latencies in ascending order."""
        return sorted(self.latencies)


def find_percentile(ordered: list[int], share: float) -> int:
    """Return the smallest value that `share` percent of the values do not exceed. ordered: ascending."""
    return ordered[max(ceil(len(ordered) * share / 100) - 1, 0)]


async def measure(
    publisher: Connection,
    settings: Settings,
    *,
    size: int,
    rate: int,
    duration: int,
    started: int,
    announce: Callable[[str], None],
) -> Measurement:
    """Publish `rate` messages per second of `size` bytes each for `duration` ns, and measure when each
    arrives on another connection.

    settings: of that connection. started: monotonic ns when the command began. announce: called with the URL
    of the server that it subscribes on. Raises Unreachable, and RequestTimeout or JsctlError when no message
    arrives.
    """
    subscriber = await Connection.open(settings)
    try:
        announce(subscriber.url)
        return await _measure(publisher, subscriber, size, rate, duration, started)
    finally:
        await subscriber.close()


async def _measure(
    publisher: Connection, subscriber: Connection, size: int, rate: int, duration: int, started: int
) -> Measurement:
    subject = subscriber.new_inbox()
    latencies: array[int] = array("q")
    count = max(rate * duration // SECOND, 1)
    complete = asyncio.Event()

    def handle(message: Message) -> None:
        data = message.data
        if len(data) < SMALLEST:
            routed.set()
            return
        latencies.append(time.monotonic_ns() - _TIME.unpack_from(data)[0])
        if len(latencies) >= count:
            complete.set()

    routed = asyncio.Event()
    rtts = await publisher.measure_rtt(), await subscriber.measure_rtt()
    async with subscriber.receive(subject, handle):
        await subscriber.flush()
        await _wait_until_routed(publisher, subject, routed)
        padding = random.randbytes(size - SMALLEST)
        start = time.monotonic_ns()
        for number in range(count):
            due = start + number * SECOND // rate
            wait = due - time.monotonic_ns()
            if wait > 0:
                await asyncio.sleep(wait / SECOND)
            await publisher.send(encode_publish(subject, _TIME.pack(time.monotonic_ns()) + padding))
        sent = time.monotonic_ns()
        try:
            async with asyncio.timeout(_DRAIN):
                await complete.wait()
        except TimeoutError:
            if not latencies:
                raise JsctlError(
                    "no message arrived", "check that both servers are in the same network"
                ) from None
        ended = time.monotonic_ns()
    return Measurement(*rtts, latencies, count - len(latencies), start - started, sent - start, ended - start)


async def _wait_until_routed(publisher: Connection, subject: str, routed: asyncio.Event) -> None:
    """Wait until what one connection publishes reaches the other: interest takes a moment to cross a
    cluster."""
    for _ in range(200):
        await publisher.send(encode_publish(subject, b""))
        try:
            async with asyncio.timeout(0.01):
                await routed.wait()
            return
        except TimeoutError:
            continue
    raise RequestTimeout("no test message arrived in 2s", "check that both servers are in the same network")
