"""What is in a stream, message by message."""

import asyncio

from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.message import browse
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message


def stored(url: str, stream: str, *, domain: str = "") -> list[Message]:
    """Return every message, as the stream's leader has it: sequence, subject, time, headers, data."""

    async def work() -> list[Message]:
        connection = await Connection.open(Settings(url=url))
        try:
            api = Api(connection, domain=domain)
            last = int((await api.call(f"STREAM.INFO.{stream}"))["state"]["last_seq"])
            return [message async for message in browse.read(api, stream, last=last)]
        finally:
            await connection.close()

    return asyncio.run(work())
