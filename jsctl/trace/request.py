"""The sending of a message that servers trace, and the collection of their reports (ADR-41)."""

import asyncio
from collections.abc import Sequence

from jsctl.base.json_text import parse_json
from jsctl.base.units import SECOND
from jsctl.errors import BadInput, Denied, RequestTimeout
from jsctl.nats.connection import Connection
from jsctl.nats.events import ConnectionEvent, PermissionDenied
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.subjects import validate_subject
from jsctl.trace.model import Json, find_expected_hops, parse_document

_OLDEST = (2, 11)


async def trace(
    connection: Connection, subject: str, data: bytes, headers: Sequence[tuple[str, str]], *, deliver: bool
) -> dict[str, Json]:
    """Trace a message. Returns the documents of the servers by the number of `parse_document`.

    Ends when all servers that received the message have answered, or when none answers within the timeout:
    then some are missing. deliver: deliver the message to its subscribers, too. Raises BadInput, Denied,
    RequestTimeout.
    """
    _check_version(connection)
    inbox = connection.new_inbox()
    block = encode_headers(
        [*headers, ("Nats-Trace-Dest", inbox), *([] if deliver else [("Nats-Trace-Only", "true")])]
    )
    message = OutgoingMessage(validate_subject(subject), data, header_block=block)
    connection.check_size(message)
    answers: asyncio.Queue[Message | Denied] = asyncio.Queue()

    def watch(event: ConnectionEvent) -> bool:
        if isinstance(event, PermissionDenied):
            answers.put_nowait(event.to_error())
            return True
        return False

    documents: dict[str, Json] = {}
    with connection.watching(watch):
        async with connection.receive(inbox, answers.put_nowait):
            await connection.send(message.encode())
            while "" not in documents or find_expected_hops(documents) - documents.keys():
                try:
                    async with asyncio.timeout(connection.settings.timeout / SECOND):
                        answer = await answers.get()
                except TimeoutError:
                    break
                if isinstance(answer, Denied):
                    raise answer
                number, document = _parse(answer)
                documents[number] = document
    if "" not in documents:
        raise RequestTimeout(
            f"no server traces {subject}",
            "check that this account may publish to it and to its inbox, or wait longer with --timeout",
        )
    return documents


def _parse(answer: Message) -> tuple[str, Json]:
    try:
        return parse_document(parse_json(answer.data))
    except ValueError as error:
        raise BadInput(f"a server's trace cannot be read: {error}") from None


def _check_version(connection: Connection) -> None:
    version = str(connection.server_info.get("version") or "")
    parts = version.split(".")[:2]
    if all(part.isdigit() for part in parts) and tuple(map(int, parts)) < _OLDEST:
        raise BadInput(f"nats-server {version} cannot trace messages", "use 2.11 or later")
