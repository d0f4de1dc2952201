"""Reading stored messages without a consumer."""

import asyncio

import pytest

from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.message import browse
from jsctl.nats.connection import Connection
from tests.support import js


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize("subject", ["", "s.1"])
def test_reading_ends_with_the_last_sequence(url: str, bulk: bool, subject: str) -> None:
    """What is stored later than that is left out, also where the last one is deleted."""
    js.stream(url, "S", "s.>", allow_direct=True)
    js.publish(url, "s.1", count=40)
    js.ask(url, "STREAM.MSG.DELETE.S", {"seq": 20})

    async def read(start: int, last: int) -> list[int]:
        connection = await Connection.open(Settings(url=url))
        try:
            reading = browse.read(Api(connection), "S", start=start, last=last, subject=subject, bulk=bulk)
            return [message.sequence async for message in reading]
        finally:
            await connection.close()

    for start, last in ((1, 20), (1, 21), (7, 7), (20, 20), (30, 29), (38, 0)):
        expected = [number for number in range(start, (last or 40) + 1) if number != 20]
        assert asyncio.run(read(start, last)) == expected, (start, last)
