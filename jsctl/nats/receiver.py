"""A subscription whose messages go to a handler as they are read."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from jsctl.nats.codec import Tally
from jsctl.nats.message import MessageHandler
from jsctl.nats.protocol import Interest

if TYPE_CHECKING:
    from jsctl.nats.asyncio_driver import AsyncioDriver


class Receiver:
    """The context of such a subscription. See Connection.receive.

    get_driver: returns the driver, once it is connected.
    confirm: called with the subscription once it is made; raises if the server refuses it.
    """

    def __init__(
        self,
        get_driver: Callable[[], Awaitable["AsyncioDriver"]],
        subject: str,
        handler: MessageHandler,
        queue: str,
        tally: Tally | None,
        confirm: Callable[[Interest], Awaitable[None]],
    ) -> None:
        self._get_driver = get_driver
        self._tally = tally
        self._subject = subject
        self._handler = handler
        self._queue = queue
        self._confirm = confirm
        self._interest: Interest | None = None

    async def __aenter__(self) -> "Receiver":
        self._driver = await self._get_driver()
        self._interest = self._driver.protocol.subscribe(
            self._subject, self._handler, queue=self._queue, tally=self._tally
        )
        self._driver.schedule()
        try:
            await self._confirm(self._interest)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._interest:
            self._driver.protocol.unsubscribe(self._interest)
            self._driver.schedule()
