"""JetStream requests of tests, straight to a server: what a test needs before the command it is about."""

import asyncio
import itertools
import time
from collections.abc import Iterable
from typing import Any

from jsctl.base.units import SECOND, parse_time_ns
from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from tests.support.waiting import wait_for


def ask(url: str, subject: str, body: Any = None, *, domain: str = "", timeout: float = 5) -> dict[str, Any]:
    """Send an API request; return the reply. timeout: seconds."""

    async def work() -> dict[str, Any]:
        connection = await Connection.open(Settings(url=url, timeout=int(timeout * SECOND)))
        try:
            return await Api(connection, domain=domain).call(subject, body)
        finally:
            await connection.close()

    return asyncio.run(work())


def ask_patiently(url: str, subject: str, body: Any = None, *, domain: str = "") -> dict[str, Any]:
    """Send a request, again and again while there is no leader; return the reply."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return ask(url, subject, body, domain=domain, timeout=1)
        except JsctlError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def is_up(url: str, *, domain: str = "") -> bool:
    """Return whether JetStream answers and has a leader; without one nobody would answer for long."""
    try:
        ask(url, "INFO", domain=domain, timeout=0.5)
        ask(url, "STREAM.NAMES", domain=domain, timeout=0.5)
    except JsctlError:
        return False
    return True


def info(url: str, stream: str) -> dict[str, Any]:
    """Return a stream's info."""
    return ask(url, f"STREAM.INFO.{stream}")


def stream(url: str, name: str, *subjects: str, domain: str = "", **config: Any) -> None:
    """Create a stream. With replicas, try again while a server that was just started is not yet a peer."""
    wanted = {"name": name, "subjects": list(subjects), "storage": "file", "retention": "limits", **config}
    if not subjects:
        del wanted["subjects"]
    create = ask_patiently if config.get("num_replicas", 1) > 1 else ask
    create(url, f"STREAM.CREATE.{name}", {"num_replicas": 1, **wanted}, domain=domain)


def bucket(url: str, name: str, **config: Any) -> None:
    """Create a bucket as other clients do (ADR-8)."""
    wanted = {"discard": "new", "allow_rollup_hdrs": True, "deny_delete": True, "allow_direct": True}
    stream(url, f"KV_{name}", f"$KV.{name}.>", **{"max_msgs_per_subject": 1, **wanted, **config})


def publish(url: str, subject: str, data: bytes = b"x", count: int = 1) -> None:
    """Publish the same message several times to one stream, and wait until it has everything."""
    publish_all(url, [(subject, data)] * count)


def send(url: str, subject: str, data: bytes = b"x", count: int = 1) -> None:
    """Publish to subscribers, and wait until the server has received all; a stream may store it later."""

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        try:
            await connection.send(encode_publish(subject, data) * count)
            await connection.flush()
        finally:
            await connection.close()

    asyncio.run(work())


def wait_for_messages(url: str, stream: str, count: int) -> None:
    """Wait until a stream has this number of messages."""
    wait_for(lambda: info(url, stream)["state"]["messages"] == count, f"{stream} has not {count} messages")


def wait_for_age(url: str, stream: str, seconds: float) -> None:
    """Wait until all messages of a stream are older."""

    def is_older() -> bool:
        now = info(url, stream)
        return parse_time_ns(now["ts"]) - parse_time_ns(now["state"]["last_ts"]) > seconds * SECOND

    wait_for(is_older, "the messages are not old enough")


def wait_until_stored(url: str, stream: str, sequence: int, *, domain: str = "") -> None:
    """Wait until a stream has stored a sequence; with replicas that may be after `publish` has returned."""
    wait_for(
        lambda: ask_patiently(url, f"STREAM.INFO.{stream}", domain=domain)["state"]["last_seq"] >= sequence,
        f"{stream} has not stored all messages",
        60,
    )


def publish_all(url: str, messages: Iterable[tuple[str, bytes]]) -> None:
    """Publish messages to one stream, and wait until it has everything; subscribers see requests.

    It stores in order, so that one acknowledgement speaks for all before; without any the server would drop
    messages when 10,000 wait to be stored.
    """

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        try:
            left = iter(messages)
            while some := list(itertools.islice(left, 5000)):
                *rest, (subject, data) = some
                await connection.send(b"".join(encode_publish(*one) for one in rest))
                await connection.request(subject, data)
        finally:
            await connection.close()

    asyncio.run(work())


def publish_framed(url: str, subject: str, header: bytes, data: bytes) -> None:
    """Publish one message with these very header bytes."""

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        try:
            await connection.send(encode_publish(subject, data, "", header))
            await connection.flush()
        finally:
            await connection.close()

    asyncio.run(work())
