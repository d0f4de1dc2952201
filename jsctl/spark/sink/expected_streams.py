"""Which stream stores the messages of a write: one that is named and accepts messages, or without the option
`stream` the one that is found out once, and then expected.

A stream that takes over a subject while rows are written does not know the ids of what the stream before it
stored, and would store repeated messages again. With `Nats-Expected-Stream` the server refuses them.
"""

from collections.abc import Iterable

from jsctl.base.command_lines import build_line
from jsctl.errors import ApiError, BadInput, Denied, NoResponders, NotFound, RequestTimeout
from jsctl.jetstream.api import Api, Json
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.subjects import matches

HEADER = "Nats-Expected-Stream"


async def fetch_writable_info(api: Api, name: str, mirror_hint: str = "") -> Json:
    """Return the info of a stream to publish to. mirror_hint: what to do when it is a mirror.

    Raises NotFound when it does not exist, BadInput when it accepts no messages.
    """
    try:
        info = await api.call(f"STREAM.INFO.{name}")
    except ApiError as error:
        if error.err_code != ErrorCode.STREAM_NOT_FOUND:
            raise
        raise NotFound(
            f"there is no stream {name}", f"create it with {build_line('stream add', name)}"
        ) from None
    if info["config"].get("mirror"):
        raise BadInput(f"{name} is a mirror, which accepts no messages", mirror_hint)
    if info["config"].get("sealed"):
        raise BadInput(f"{name} is sealed, and accepts no messages")
    return info


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
