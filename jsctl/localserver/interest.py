"""Whether messages of a user pass between all servers of a network.

After a leaf node connection or gateway was made again, the servers tell each other what their clients
subscribe to, in order; until then requests find no responders, and messages are lost. So a subscription that
is known everywhere shows that all earlier ones are.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial

from jsctl.contexts.settings import Settings
from jsctl.errors import Denied
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message

_SECONDS = 5
_INTERVAL_SECONDS = 0.05


async def find_unjoined(servers: Mapping[str, Settings]) -> list[tuple[str, str]]:
    """Return pairs of servers of which the second gets no messages from the first one.

    servers: how to connect to each, as the same user. One that may not subscribe to an inbox proves nothing.
    Raises JsctlError.
    """
    async with AsyncExitStack() as stack:
        connections: dict[str, Connection] = {}
        for name, settings in servers.items():
            connections[name] = await Connection.open(settings)
            stack.push_async_callback(connections[name].close)
        missing = {(source, target) for source in servers for target in servers if source != target}
        inboxes: dict[str, str] = {}
        try:
            for target, connection in connections.items():
                inboxes[target] = connection.new_inbox()
                receiver = connection.receive(inboxes[target], partial(_note, missing, target))
                await stack.enter_async_context(receiver)
                await connection.flush()
            deadline = asyncio.get_running_loop().time() + _SECONDS
            while missing and asyncio.get_running_loop().time() < deadline:
                for source, target in list(missing):
                    await connections[source].publish(inboxes[target], source.encode())
                await asyncio.sleep(_INTERVAL_SECONDS)
        except Denied:
            return []
        return sorted(missing)


def _note(missing: set[tuple[str, str]], target: str, message: Message) -> None:
    missing.discard((message.data.decode(), target))
