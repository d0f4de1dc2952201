"""The connection of verbs that ask one thing after the other: no event loop, no asyncio, no nats-py.

It is a `Connection` over a `BlockingConnection`. Its methods wait for what they ask for and never suspend, so
that `jsctl.loops` can step the coroutines that call them. What takes messages as they come, asks many things
at once or outlives its server needs an event loop, and the other connection.
"""

from collections.abc import Mapping
from typing import Any

from jsctl.contexts.model import public_url
from jsctl.contexts.settings import Settings
from jsctl.errors import Unreachable
from jsctl.loops import event_loop, is_stepped, request_sent
from jsctl.nats import login
from jsctl.nats.blocking import BlockingConnection, ConnectionLost
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message, OutgoingMessage


def suits(settings: Settings) -> bool:
    """Return whether the servers can be reached without an event loop: without a proxy and without
    websockets."""
    return not settings.socks_proxy and "ws://" not in settings.url and "wss://" not in settings.url


async def connect(settings: Settings) -> Connection | None:
    """Connect, or raise Unreachable, Denied or BadInput within the settings' timeout; where that needs an
    event loop, wait for one and return None."""
    if not is_stepped() or not suits(settings):
        await event_loop()
        return None
    settings = await login.prepare(settings)
    link = BlockingConnection.open(settings, settings.connection_name or "jsctl", in_order=True)
    return LoopFreeConnection(settings, link)


class LoopFreeConnection(Connection):
    """One connection to one server; when that ends, every method raises Unreachable. See `connect`."""

    def __init__(self, settings: Settings, link: BlockingConnection) -> None:
        super().__init__(settings, None)
        self._link = link

    @property
    def server_info(self) -> Mapping[str, Any]:
        return self._link.info

    @property
    def url(self) -> str:
        return public_url(self._link.address.url)

    @property
    def max_payload(self) -> int:
        return int(self._link.info.get("max_payload") or 0)

    async def request_message(self, message: OutgoingMessage, *, timeout: int | None = None) -> Message:
        self.check_size(message)
        try:
            request = self._link.begin_request(message, timeout or 0)
            await request_sent()
            return self._link.answer_to(request)
        except ConnectionLost:
            raise self._lost() from None

    async def send(self, *frames: bytes) -> None:
        try:
            self._link.send(b"".join(frames))
        except ConnectionLost:
            raise self._lost() from None

    async def flush(self, timeout: int | None = None) -> None:
        try:
            self._link.flush(timeout or 0)
        except ConnectionLost:
            raise self._lost() from None
        except TimeoutError:
            raise Unreachable("the server did not take everything: flush timeout") from None

    async def close(self) -> None:
        self._link.close()

    def _lost(self) -> Unreachable:
        return Unreachable(f"lost the connection to {self.url}")
