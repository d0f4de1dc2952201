"""A subscription whose messages go to a handler as they are read."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from jsctl.nats.codec import Tally
from jsctl.nats.message import MessageHandler

if TYPE_CHECKING:
    from jsctl.nats.nats_py import NatsClient


class Receiver:
    """The context of such a subscription. See Connection.receive.

    get_client: returns the client, once it is connected.
    confirm: called with the subject once it is subscribed to; raises if the server refuses it.
    """

    def __init__(
        self,
        get_client: Callable[[], Awaitable["NatsClient"]],
        subject: str,
        handler: MessageHandler,
        queue: str,
        tally: Tally | None,
        confirm: Callable[[str], Awaitable[None]],
    ) -> None:
        self._get_client = get_client
        self._tally = tally
        self._subject = subject
        self._handler = handler
        self._queue = queue
        self._confirm = confirm
        self._subscription: Any = None

    async def __aenter__(self) -> "Receiver":
        self._client = await self._get_client()
        self._subscription = await self._client.receive(
            self._subject, self._handler, self._queue, self._tally
        )
        try:
            await self._confirm(self._subject)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._subscription:
            await self._client.unsubscribe(*self._subscription)
