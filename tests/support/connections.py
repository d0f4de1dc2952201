"""Clients as the server sees them: a test continues when somebody listens, or has asked."""

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from jsctl.contexts.settings import Settings
from jsctl.nats.connection import Connection
from tests.support.waiting import wait_for


def connections(url: str) -> list[dict[str, Any]]:
    """Return the clients in the account of the URL's user, as CONNZ of its server lists them.

    The server has a user `admin` in the system account, as all of `tests.support.servers` have; an account's
    name is its user's in capitals.
    """
    address = urlsplit(url)
    account = "SYS" if address.username == "admin" else str(address.username).upper()
    system = f"nats://admin:admin@{address.hostname}:{address.port}"

    async def fetch() -> list[dict[str, Any]]:
        connection = await Connection.open(Settings(url=system))
        try:
            server = connection.server_info["server_id"]
            body = json.dumps({"subscriptions": True, "acc": account}).encode()
            reply = await connection.request(f"$SYS.REQ.SERVER.{server}.CONNZ", body)
            clients: list[dict[str, Any]] = json.loads(reply.data)["data"]["connections"]
            return clients
        finally:
            await connection.close()

    return asyncio.run(fetch())


def subscribers(url: str, subject: str) -> int:
    """Count the clients in the account of the URL's user that subscribe to exactly this subject."""
    return sum(subject in client.get("subscriptions_list", ()) for client in connections(url))


def wait_for_subscribers(url: str, *subjects: str, count: int = 1) -> None:
    """Wait until as many clients subscribe to each of the subjects."""

    def listening() -> bool:
        return all(subscribers(url, subject) >= count for subject in subjects)

    wait_for(listening, f"nobody listens on {' and '.join(subjects)}")
