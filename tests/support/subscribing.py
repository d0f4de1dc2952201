"""Subscribers in a thread of their own, while a test runs commands."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager

from jsctl.contexts.settings import Settings
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message
from tests.support.meanwhile import running


@contextmanager
def subscribing(
    url: str,
    *subjects: str,
    handle: Callable[[Connection, Message], None] = lambda connection, message: None,
    queue: str = "",
    name: str = "",
) -> Iterator[None]:
    """Subscribe to subjects. handle: takes each message. name: the connection's."""
    ready = threading.Event()

    async def listen(stop: threading.Event) -> None:
        connection = await Connection.open(Settings(url=url, connection_name=name))
        try:
            async with AsyncExitStack() as stack:
                for subject in subjects:
                    receiving = connection.receive(
                        subject, lambda message: handle(connection, message), queue=queue
                    )
                    await stack.enter_async_context(receiving)
                await connection.flush()
                ready.set()
                await asyncio.to_thread(stop.wait)
        finally:
            await connection.close()

    with running(listen):
        assert ready.wait(10), "it did not subscribe"
        yield
