"""Round trips of a connection: to know that the server has what was sent, and how long that takes."""

import asyncio
import time
from typing import TYPE_CHECKING

from jsctl.base.units import SECOND
from jsctl.errors import Unreachable
from jsctl.nats import nats_py
from jsctl.nats.events import Closed, ConnectionEvent, Disconnected
from jsctl.nats.failures import describe_error

if TYPE_CHECKING:
    from jsctl.nats.connection import Connection


async def flush(connection: "Connection", client: nats_py.NatsClient, timeout: int) -> bool:
    """Wait until the server has processed what was sent; return False when the connection is lost meanwhile.

    timeout: ns. Raises Unreachable when it is closed for good, or nothing answers.
    """
    if not client.is_connected:
        await connection.wait_until_connected(timeout)
    lost = asyncio.get_running_loop().create_future()

    def watch(event: ConnectionEvent) -> bool:
        if isinstance(event, Disconnected | Closed) and not lost.done():
            lost.set_result(None)
        return False

    with connection.watching(watch):
        ping = asyncio.ensure_future(_ping(connection, client, timeout))
        try:
            await asyncio.wait([ping, lost], return_when=asyncio.FIRST_COMPLETED)
            return await ping if ping.done() else False
        finally:
            ping.cancel()
            await asyncio.gather(ping, return_exceptions=True)


async def _ping(connection: "Connection", client: nats_py.NatsClient, timeout: int) -> bool:
    try:
        await client.write_pending()  # nats-py sends its PING ahead of what is pending
        await client.flush(timeout=timeout / SECOND)  # type: ignore[arg-type]
        return True
    except (nats_py.ClientError, TimeoutError) as error:
        reason = "it does not answer" if isinstance(error, TimeoutError) else describe_error(error)
        raise Unreachable(f"lost the connection to {connection.url}: {reason}") from None
    except OSError:
        return False


async def measure(client: nats_py.NatsClient, timeout: int) -> int:
    """Return the round-trip time to the connected server in ns. timeout: ns. Raises Unreachable."""
    try:
        started_at = time.perf_counter_ns()
        await client.flush(timeout=timeout / SECOND)  # type: ignore[arg-type]
        return time.perf_counter_ns() - started_at
    except (nats_py.ClientError, TimeoutError) as error:
        raise Unreachable(f"no answer to a ping: {describe_error(error)}") from None
