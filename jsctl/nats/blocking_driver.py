"""The driver of a connection without an event loop, for commands. It makes one request after the other.

Its methods are those of `asyncio_driver`, and block.
"""

import time
from contextlib import suppress
from typing import Any

from jsctl.base.loops import mark_request_sent
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import NoResponders, Unreachable
from jsctl.nats.blocking import BlockingConnection
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.outcomes import ConnectionLost, EndedByServer, only_reads
from jsctl.nats.protocol import Protocol

_PAUSE = 0.1  #: seconds between two attempts to connect again


class BlockingDriver:
    """A connection, and when it is lost in a request that only reads, another one.

    Other messages may have arrived already when it is lost: whatever sends them raises Unreachable.
    """

    fault = None

    def __init__(self, settings: Settings) -> None:
        """Connect. Raises Unreachable, Denied or BadInput within the settings' timeout."""
        self._settings = settings
        self._link = self._open(settings)

    @staticmethod
    def _open(settings: Settings) -> BlockingConnection:
        return BlockingConnection.open(settings, settings.connection_name or "jsctl", in_order=True)

    @property
    def protocol(self) -> Protocol:
        """What it knows of the connection."""
        return self._link.protocol

    @property
    def url(self) -> str:
        """The URL that it is or was connected to, without credentials."""
        return self._link.url

    @property
    def is_connected(self) -> bool:
        """Whether the connection lasts."""
        return self._link.is_connected

    def socket_info(self, name: str) -> Any:
        """Return what is known of the socket."""
        return self._link.socket_info(name)

    async def request(self, message: OutgoingMessage, timeout: int) -> Message:
        """See `Connection.request`. timeout: ns."""
        link, deadline = self._link, time.monotonic() + timeout / SECOND
        try:
            request = link.begin_request(message)
            try:
                await mark_request_sent()
                return link.wait_for_reply(request, deadline, timeout)
            finally:
                link.protocol.forget(request)
        except ConnectionLost as error:
            if isinstance(error, EndedByServer) or not only_reads(message.subject):
                raise self._lost_error() from None
        return self._request_again(link, message, deadline)

    def _request_again(self, lost: BlockingConnection, message: OutgoingMessage, deadline: float) -> Message:
        """Connect again, unless another request has, and repeat a request until `deadline` (monotonic).

        Raises Unreachable at the deadline, Denied when the login is refused.
        """
        while (ns_left := int((deadline - time.monotonic()) * SECOND)) > 0:
            try:
                if self._link is lost:
                    self._link = self._open(self._settings._replace(timeout=ns_left))
                return self._link.request_message(message, timeout=ns_left)
            except EndedByServer:
                break
            except ConnectionLost:
                lost = self._link
            except (Unreachable, NoResponders):  # the server, or its JetStream, is not ready yet
                pass
            time.sleep(_PAUSE)
        raise self._lost_error()

    async def send(self, *frames: bytes) -> None:
        """Send frames. Raises Unreachable."""
        self.post(b"".join(frames))

    send_now = send

    def post(self, frames: bytes, *, now: bool = True) -> None:
        """Send frames. Raises Unreachable."""
        try:
            self._link.send(frames)
        except ConnectionLost:
            raise self._lost_error() from None

    def read_now(self, seconds: float) -> bool:
        """Return False: nothing is read but the answer that is waited for."""
        return False

    async def ping(self, seconds: float) -> bool:
        """Wait until the server has processed what was sent; return False when the connection is lost
        meanwhile. Raises TimeoutError after `seconds` without an answer."""
        try:
            self._link.flush(int(seconds * SECOND))
        except ConnectionLost:
            return False
        return True

    async def wait_until_connected(self, seconds: float) -> None:
        """Raise Unreachable if the connection was lost."""
        if not self.is_connected:
            raise self._lost_error()

    async def finish_requests(self) -> None:
        """Wait for the replies to requests that were sent and are not awaited yet."""
        with suppress(TimeoutError, ConnectionLost):
            while self.protocol.has_requests:
                self._link.pump(time.monotonic() + self._settings.timeout / SECOND)

    async def close(self) -> None:
        """Close the connection at once."""
        self._link.close()

    def _lost_error(self) -> Unreachable:
        return Unreachable(f"lost the connection to {self.url}")
