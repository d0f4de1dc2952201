"""Pulling from a consumer on a real server."""

import asyncio

from jsctl.base.units import MS
from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.message.pull import pull
from jsctl.nats.connection import Connection
from tests.support import js


def test_processing_time_does_not_count_as_silence(url: str) -> None:
    js.stream(url, "S", "S.>")
    js.publish(url, "S.a")
    js.ask(url, "CONSUMER.CREATE.S.C", {"stream_name": "S", "config": {"name": "C", "ack_policy": "none"}})

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        try:
            pages = pull(Api(connection), "S", "C", 2, wait=300 * MS, batch=1)
            assert len(await anext(pages)) == 1
            await asyncio.sleep(0.4)  # longer than it waits for a message
            later = asyncio.get_running_loop().call_later(0.1, connection.post, b"PUB S.b 1\r\nx\r\n")
            assert [message.subject for message in await anext(pages)] == ["S.b"]
            later.cancel()
            await pages.aclose()
        finally:
            await connection.close()

    asyncio.run(work())
