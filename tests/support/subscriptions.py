"""What clients subscribe to, as the server sees it: a test publishes when somebody listens."""

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from jsctl.contexts.settings import Settings
from jsctl.nats.connection import Connection
from tests.support.waiting import wait_for


def subscribers(url: str, subject: str) -> int:
    """How many clients with the account of the URL's user subscribe to exactly this subject.

    The server has a user `admin` in the system account, as all of `tests.support.servers` have; an account's
    name is its user's in capitals.
    """
    address = urlsplit(url)
    account = "SYS" if address.username == "admin" else str(address.username).upper()

    async def connections() -> Any:
        connection = await Connection.open(
            Settings(url=f"nats://admin:admin@{address.hostname}:{address.port}")
        )
        try:
            server = connection.server_info["server_id"]
            body = json.dumps({"subscriptions": True, "acc": account}).encode()
            reply = await connection.request(f"$SYS.REQ.SERVER.{server}.CONNZ", body)
            return json.loads(reply.data)["data"]["connections"]
        finally:
            await connection.close()

    return sum(subject in client.get("subscriptions_list", ()) for client in asyncio.run(connections()))


def wait_for_subscribers(url: str, *subjects: str, count: int = 1) -> None:
    """Wait until as many clients subscribe to each of the subjects."""

    def listening() -> bool:
        return all(subscribers(url, subject) >= count for subject in subjects)

    wait_for(listening, f"nobody listens on {' and '.join(subjects)}")
