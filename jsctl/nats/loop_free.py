"""The connection of verbs that make one request after the other: no event loop, no asyncio, no nats-py.

It is a `Connection` over a `BlockingConnection`. Its methods block until they have their answer and never
suspend, so that `jsctl.base.loops` can step the coroutines that call them. Verbs that receive messages, make
requests at the same time or outlive their server need an event loop, and the other connection.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from jsctl.base.loops import NoEventLoop, await_event_loop, is_stepped, mark_request_sent
from jsctl.base.units import SECOND
from jsctl.contexts.model import strip_login
from jsctl.contexts.settings import Settings
from jsctl.errors import NoResponders, Unreachable
from jsctl.nats import login
from jsctl.nats.blocking import BlockingConnection, ConnectionLost, EndedByServer
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message, OutgoingMessage

_PAUSE = 0.1  #: seconds between two attempts to connect again


def is_suitable(settings: Settings) -> bool:
    """Return whether the servers can be reached without an event loop: without a proxy and without
    websockets."""
    return not settings.socks_proxy and "ws://" not in settings.url and "wss://" not in settings.url


async def connect(settings: Settings) -> Connection | None:
    """Connect, or raise Unreachable, Denied or BadInput within the settings' timeout.

    Where that needs an event loop, wait until one runs and return None.
    """
    if not is_stepped() or not is_suitable(settings):
        await await_event_loop()
        return None
    settings = await login.prepare(settings)
    return LoopFreeConnection(settings, _open(settings))


def _open(settings: Settings) -> BlockingConnection:
    return BlockingConnection.open(settings, settings.connection_name or "jsctl", in_order=True)


class _LostWhileWaiting(Unreachable):
    """The loss of a connection before the answer to a request, which another connection may bring."""


class LoopFreeConnection(Connection):
    """A connection to one server. See `connect`.

    When it is lost, a `request` is repeated over a new one until its timeout: without an event loop, requests
    only read. Other messages may have arrived already; the methods that send them raise Unreachable.
    """

    def __init__(self, settings: Settings, link: BlockingConnection) -> None:
        super().__init__(settings, None)
        self._link = link

    @property
    def server_info(self) -> Mapping[str, Any]:
        return self._link.info

    @property
    def url(self) -> str:
        return strip_login(self._link.address.url)

    @property
    def max_payload(self) -> int:
        return int(self._link.info.get("max_payload") or 0)

    async def request(self, subject: str, data: bytes = b"", *, timeout: int | None = None) -> Message:
        link, deadline = self._link, time.monotonic() + (timeout or self.settings.timeout) / SECOND
        try:
            return await super().request(subject, data, timeout=timeout)
        except _LostWhileWaiting:
            return self._request_again(link, OutgoingMessage(subject, data), deadline)

    async def request_message(self, message: OutgoingMessage, *, timeout: int | None = None) -> Message:
        self.check_size(message)
        link = self._link
        try:
            request = link.begin_request(message, timeout or 0)
            await mark_request_sent()
            return link.wait_for_reply(request)
        except EndedByServer:
            raise self._lost_error() from None
        except ConnectionLost:
            raise _LostWhileWaiting(self._lost_error().message) from None

    def _request_again(self, lost: BlockingConnection, message: OutgoingMessage, deadline: float) -> Message:
        """Connect again, unless another request has, and repeat a request until `deadline` (monotonic).

        Raises Unreachable at the deadline, Denied when the login is refused.
        """
        while (ns_left := int((deadline - time.monotonic()) * SECOND)) > 0:
            try:
                if self._link is lost:
                    self._link = _open(replace(self.settings, timeout=ns_left))
                return self._link.request_message(message, timeout=ns_left)
            except EndedByServer:
                break
            except ConnectionLost:
                lost = self._link
            except (Unreachable, NoResponders):  # the server, or its JetStream, is not ready yet
                pass
            time.sleep(_PAUSE)
        raise self._lost_error()

    def receive(self, *args: object, **options: object) -> NoReturn:
        raise NoEventLoop("messages are received in an event loop")

    def new_inbox(self) -> NoReturn:
        raise NoEventLoop("messages are received in an event loop")

    async def send(self, *frames: bytes) -> None:
        try:
            self._link.send(b"".join(frames))
        except ConnectionLost:
            raise self._lost_error() from None

    async def flush(self, timeout: int | None = None) -> None:
        try:
            self._link.flush(timeout or 0)
        except ConnectionLost:
            raise self._lost_error() from None
        except TimeoutError:
            raise Unreachable("the server did not take everything: flush timeout") from None

    async def close(self) -> None:
        self._link.close()

    def _lost_error(self) -> Unreachable:
        return Unreachable(f"lost the connection to {self.url}")
