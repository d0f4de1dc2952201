"""Frames that are sent and answers that are read past the event loop, on a real server."""

import asyncio
import time

import pytest

from jsctl.contexts.settings import Settings
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message


def test_an_answer_is_read_without_the_event_loop(url: str) -> None:
    async def run() -> list[bytes]:
        connection = await Connection.open(Settings(url=url))
        inbox, received = connection.new_inbox(), list[Message]()
        async with connection.receive(inbox, received.append):
            await connection.flush()
            reads = 0
            for number in range(3):
                connection.post(encode_publish(inbox, b"%d" % number), now=True)
                while len(received) == number:
                    if connection.read_now(5):
                        reads += 1
                    else:  # it waits 50 ms at most, and the server's own PING is for the loop
                        await asyncio.sleep(0)
            assert reads
            assert not connection.read_now(0)  # nothing more has arrived
            connection.post(b"PING\r\n" + encode_publish(inbox, b"3"), now=True)
            while connection.read_now(5):
                pass  # what is more than messages is left to the loop, and nothing is lost
            await connection.flush()
            large = b"x" * 300_000  # in several pieces
            connection.post(encode_publish(inbox, large), now=True)
            while len(received) < 5:
                connection.read_now(0.01)
                await asyncio.sleep(0)
            assert received.pop().data == large
            await connection.request("$JS.API.INFO")
        await connection.close()
        assert not connection.read_now(0)
        return [message.data for message in received]

    assert asyncio.run(run()) == [b"0", b"1", b"2", b"3"]


def test_much_is_sent_without_the_event_loop(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the system buffers, to a subscriber on the same connection: what comes back is read
    meanwhile."""
    monkeypatch.setattr("jsctl.nats.tcp_link._MAX_BLOCK", 5)  # the server may have to wait for a processor

    async def run() -> tuple[int, int, float]:
        connection = await Connection.open(Settings(url=url))
        began = time.monotonic()
        inbox, sizes, turns = connection.new_inbox(), list[int](), 0

        def count_turn() -> None:
            nonlocal turns
            turns += 1

        async with connection.receive(inbox, lambda message: sizes.append(len(message.data))):
            await connection.flush()
            frame = encode_publish(inbox, b"x" * 1_000_000)
            asyncio.get_running_loop().call_soon(count_turn)
            for _ in range(64):
                await connection.send_now(frame, frame)
            turns_before, seconds = turns, time.monotonic() - began
            await connection.flush()
            while len(sizes) < 128:
                connection.read_now(0.01)
                await asyncio.sleep(0)
        await connection.close()
        return sum(sizes), turns_before, seconds

    size, turns, seconds = asyncio.run(run())
    assert size == 128_000_000
    assert turns == 0 or seconds > 2  # after 2 s the server sends its first PING, which is for the loop
