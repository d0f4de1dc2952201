"""Which stream stores the messages of a write without the option `stream`: found out once, and then expected.

A stream that takes over a subject while rows are written does not know the ids of what the stream before it
stored, and would store repeated messages again. With `Nats-Expected-Stream` the server refuses them.
"""

from collections.abc import Iterable

from jsctl.errors import ApiError, Denied, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.subjects import matches

HEADER = "Nats-Expected-Stream"


class ExpectedStreams:
    """The streams that were found, by the subjects that they store. A login that may not ask expects none."""

    def __init__(self) -> None:
        self._streams: dict[str, list[str]] = {}
        self._absent: set[str] = set()
        self._may_ask = True

    async def add(self, api: Api, messages: Iterable[OutgoingMessage]) -> list[OutgoingMessage]:
        """Return messages that name the stream that is to store them. Raises what a lost connection
        raises."""
        named = []
        for message in messages:
            stream = await self._find(api, message)
            named.append(_with_header(message, stream) if stream else message)
        return named

    async def _find(self, api: Api, message: OutgoingMessage) -> str:
        """Return the stream that stores a message; empty if it is not known, or the message names one."""
        subject = message.subject
        if not self._may_ask or subject in self._absent or _names_stream(message):
            return ""
        for stream, filters in self._streams.items():
            if any(matches(subject_filter, subject) for subject_filter in filters):
                return stream
        try:
            names = (await api.call("STREAM.NAMES", {"subject": subject}))["streams"] or []
            for name in names[:1]:
                config = (await api.call(f"STREAM.INFO.{name}"))["config"]
                self._streams[name] = [*(config.get("subjects") or []), subject]
                return str(name)
        except (ApiError, Denied, NoResponders, RequestTimeout):
            self._may_ask = False
        else:
            self._absent.add(subject)  # publishing it says so
        return ""


def _names_stream(message: OutgoingMessage) -> bool:
    return HEADER.lower().encode() + b":" in message.header_block.lower()


def _with_header(message: OutgoingMessage, stream: str) -> OutgoingMessage:
    block = message.header_block.removesuffix(b"\r\n") + f"{HEADER}: {stream}\r\n\r\n".encode()
    return message._replace(header_block=block)
