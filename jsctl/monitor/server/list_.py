"""All servers of the network, and the round-trip time to each."""

import asyncio

from jsctl.base.loops import await_event_loop
from jsctl.base.units import SECOND
from jsctl.monitor.server.requests import Json, no_system_account_error, parse_reply
from jsctl.nats.connection import Connection
from jsctl.nats.message import is_no_responders

_MAX_SILENCE = SECOND // 2
"""ns without a further answer after which no more are awaited."""

_PING = "$SYS.REQ.SERVER.PING"


async def fetch_servers(connection: Connection, expect: int = 0) -> list[tuple[Json, int]]:
    """Fetch the answers {"server": {...}, "statsz": {...}} to $SYS.REQ.SERVER.PING, each with its round-trip
    time in ns, measured here.

    expect: stop after that many; 0 waits until no more arrive. Raises Denied without the system account.
    """
    await await_event_loop()
    loop = asyncio.get_running_loop()
    answers: list[tuple[Json, int]] = []
    inbox = connection.new_inbox()
    async with connection.subscribe(inbox) as subscription:
        started = loop.time()
        await connection.publish(_PING, b"", reply=inbox)
        while not expect or len(answers) < expect:
            message = await subscription.next(_MAX_SILENCE if answers else connection.settings.timeout)
            if message is None:
                break
            if is_no_responders(message):
                raise no_system_account_error()
            answers.append((parse_reply(message.data, _PING), int((loop.time() - started) * SECOND)))
            # Each server says how many it knows.
            expect = expect or int(answers[0][0].get("statsz", {}).get("active_servers", 0))
    if not answers:
        raise no_system_account_error()
    return answers
