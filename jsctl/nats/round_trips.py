"""Round trips of a connection: to know that the server has what was sent, and how long that takes."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager

from jsctl.base.units import SECOND
from jsctl.errors import Unreachable
from jsctl.nats import nats_py
from jsctl.nats.events import Closed, ConnectionEvent, Disconnected, EventHandler
from jsctl.nats.failures import describe_error


async def flush(
    client: nats_py.NatsClient,
    timeout: int,
    watching: Callable[[EventHandler], AbstractContextManager[None]],
    url: str,
) -> bool:
    """Wait until the server has processed what was sent; return False when the connection is lost meanwhile.

    timeout: ns. watching: as of a connection. Raises Unreachable when that is closed for good, or nothing
    answers.
    """
    lost = asyncio.get_running_loop().create_future()

    def watch(event: ConnectionEvent) -> bool:
        if isinstance(event, Disconnected | Closed) and not lost.done():
            lost.set_result(None)
        return False

    with watching(watch):
        ping = asyncio.ensure_future(_ping(client, timeout, url))
        try:
            await asyncio.wait([ping, lost], return_when=asyncio.FIRST_COMPLETED)
            return await ping if ping.done() else False
        finally:
            ping.cancel()
            await asyncio.gather(ping, return_exceptions=True)


async def _ping(client: nats_py.NatsClient, timeout: int, url: str) -> bool:
    try:
        await client.write_pending()  # nats-py sends its PING ahead of what is pending
        await client.flush(timeout=timeout / SECOND)  # type: ignore[arg-type]
        return True
    except (nats_py.ClientError, TimeoutError) as error:
        reason = "it does not answer" if isinstance(error, TimeoutError) else describe_error(error)
        raise Unreachable(f"lost the connection to {url}: {reason}") from None
    except OSError:
        return False


async def measure(client: nats_py.NatsClient, timeout: int) -> int:
    """Return the round-trip time to the connected server in ns. timeout: ns. Raises Unreachable."""
    try:
        return int(await client.rtt(timeout=timeout / SECOND) * SECOND)  # type: ignore[arg-type]
    except (nats_py.ClientError, TimeoutError) as error:
        raise Unreachable(f"no answer to a ping: {describe_error(error)}") from None
