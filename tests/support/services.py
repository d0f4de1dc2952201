"""Services of the micro protocol: of jsctl in another process, and replies of any kind."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jsctl.contexts.settings import Settings
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message, OutgoingMessage
from tests.support.run import Cli


def start(cli: Cli, *args: str) -> subprocess.Popen[str]:
    """Start a command of `jsctl service`."""
    return subprocess.Popen(
        [sys.executable, "-m", "jsctl", "service", *args],
        env={**os.environ, **cli.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def answering(url: str, answers: dict[str, list[tuple[bytes, bytes]]]) -> Iterator[None]:
    """Answer requests on subjects with headers and data, in a thread of its own."""
    import threading

    ready, stop = threading.Event(), threading.Event()

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))

        def answer(message: Message) -> None:
            for block, data in answers[message.subject]:
                connection.post(OutgoingMessage(message.reply, data, "", block).encode())

        for subject in answers:
            await connection.receive(subject, answer).__aenter__()
        await connection.flush()
        ready.set()
        await asyncio.to_thread(stop.wait)
        await connection.close()

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    assert ready.wait(10)
    try:
        yield
    finally:
        stop.set()
        thread.join()


def reply(verb: str, **more: Any) -> tuple[bytes, bytes]:
    """Return the header block and the payload of a service's reply."""
    document = {"type": f"io.nats.micro.v1.{verb}_response", "name": "W", "id": "1", "version": "1.0.0"}
    return b"", json.dumps({**document, **more}).encode()
