"""The connection of a backup or restore of many streams."""

from jsctl.errors import Unreachable
from jsctl.nats.connection import Connection


class SharedConnection:
    """A connection that many streams share: once it is lost for good, no stream waits for it again."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lost = False

    async def check(self) -> None:
        """Wait until the connection is established. Raises Unreachable."""
        if self._lost:
            raise Unreachable("it was not tried because the connection was lost")
        try:
            await self._connection.wait_until_connected()
        except Unreachable:
            self._lost = True
            raise
