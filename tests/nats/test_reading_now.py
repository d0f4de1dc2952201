"""Answers that are read past the event loop, on a real server."""

import asyncio

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
            for number in range(3):
                connection.post(encode_publish(inbox, b"%d" % number), now=True)
                while len(received) == number:
                    assert connection.read_now(5)
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
