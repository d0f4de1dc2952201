"""Services of the micro protocol: of jsctl in another process, and replies of any kind."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jsctl.nats.connection import Connection
from jsctl.nats.message import Message, OutgoingMessage
from tests.support.run import Cli
from tests.support.subscribing import subscribing


def start(cli: Cli, *args: str) -> subprocess.Popen[str]:
    """Start a command of `jsctl service`."""
    return cli.start(["service", *args])


@contextmanager
def answering(url: str, answers: dict[str, list[tuple[bytes, bytes]]]) -> Iterator[None]:
    """Answer requests on subjects with headers and data, in a thread of its own."""

    def answer(connection: Connection, message: Message) -> None:
        for block, data in answers[message.subject]:
            connection.post(OutgoingMessage(message.reply, data, "", block).encode())

    with subscribing(url, *answers, handle=answer):
        yield


def reply(verb: str, **more: Any) -> tuple[bytes, bytes]:
    """Return the header block and the payload of a service's reply."""
    document = {"type": f"io.nats.micro.v1.{verb}_response", "name": "W", "id": "1", "version": "1.0.0"}
    return b"", json.dumps({**document, **more}).encode()
