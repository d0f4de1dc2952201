"""Pulling messages from a consumer with nothing but NEXT and ACK, the least that an import gives.

Replies to NEXT carry the subject of the stored message, so they need an inbox subscription of their own.
Statuses: ADR-37; where a message stands is in its reply subject (ADR-15).
"""

import json
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from jsctl.errors import JsctlError, NoResponders, NotFound, Unreachable
from jsctl.jetstream import consumers
from jsctl.jetstream.api import Api
from jsctl.jetstream.client import Message, Subscription
from jsctl.units import MS, SECOND, exact_duration

BATCH = 500
"""Messages asked for at once, well below the 1,000 that a consumer lets wait for acknowledgement."""

ACK, NAK, TERM = b"+ACK", b"-NAK", b"+TERM"
_MARGIN = 500 * MS  #: what a reply may take on its way beyond the request's own time


class Delivery(NamedTuple):
    """A message of a consumer, and what its reply subject says of it.

    delivered: which try it is. timestamp: ns since the epoch, when it was stored.
    """

    message: Message
    stream: str = ""
    consumer: str = ""
    delivered: int = 0
    stream_seq: int = 0
    consumer_seq: int = 0
    timestamp: int = 0
    pending: int = 0


def delivery(message: Message) -> Delivery:
    """What `$JS.ACK...` says; zeroes where the reply is none of those."""
    tokens = message.reply.split(".")
    if len(tokens) < 9 or tokens[:2] != ["$JS", "ACK"]:
        return Delivery(message)
    # $JS.ACK.<domain>.<account>.<stream>... since 2.10 where asked for; else without these two.
    own = tokens[2:9] if len(tokens) == 9 else tokens[4:11]
    try:
        return Delivery(message, own[0], own[1], *map(int, own[2:7]))
    except (ValueError, TypeError, IndexError):
        return Delivery(message)


async def pull(
    api: Api, stream: str, consumer: str, count: int, *, wait: int, batch: int = BATCH
) -> AsyncIterator[list[Delivery]]:
    """Up to `count` messages, in lists as they come in, never one more.

    wait: ns without a message after which it ends. Raises NotFound when there is no message at all, or
    no consumer; JsctlError for a push consumer and what else the server refuses; Unreachable.
    """
    inbox = api.connection.new_inbox()
    got = 0
    async with api.connection.subscribe(inbox) as replies:
        while got < count:
            asked = min(batch, count - got)
            await _ask(api, stream, consumer, inbox, asked, wait)
            before = got
            async for found, end in _answers(replies, asked, wait):
                if found:
                    got += len(found)
                    yield found
                if end is not None:
                    await _settle(api, stream, consumer, end)
            if got == before:
                break
    if not got:
        raise NotFound(f"no message for {stream} > {consumer} in {exact_duration(wait)}")


class Acks:
    """Acknowledgements in flight: sent without waiting, confirmed by the server, counted.

    `async with Acks(api) as acks`: `send`, then `settle` for those that are still open.
    """

    def __init__(self, api: Api) -> None:
        self._connection = api.connection
        self._inbox = self._connection.new_inbox()
        self._replies: Subscription = self._connection.subscribe(self._inbox)
        self.sent = 0
        self.confirmed = 0
        self.untaken = 0  #: that nobody listened for

    async def __aenter__(self) -> "Acks":
        await self._replies.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> None:
        await self._replies.__aexit__(*details)

    async def send(self, deliveries: Sequence[Delivery], kind: bytes) -> None:
        """Acknowledge; what has no reply subject cannot be."""
        for one in deliveries:
            if one.message.reply:
                await self._connection.publish(one.message.reply, kind, reply=self._inbox)
                self.sent += 1

    @property
    def open(self) -> int:
        """Acknowledgements that the server has said nothing to."""
        return self.sent - self.confirmed - self.untaken

    async def settle(self, most: int, wait: int) -> None:
        """Wait until at most `most` are open, or `wait` ns pass without a confirmation."""
        while self.open > most:
            found = await self._replies.take(wait)
            if not found:
                return
            away = sum(1 for message in found if message.headers.get("Status") == "503")
            self.untaken += away
            self.confirmed += len(found) - away


async def _ask(api: Api, stream: str, consumer: str, inbox: str, number: int, wait: int) -> None:
    subject = f"{api.prefix}.CONSUMER.MSG.NEXT.{stream}.{consumer}"
    body = json.dumps({"batch": number, "expires": wait})
    api.show(f">>> {subject}", body)
    await api.connection.publish(subject, body.encode(), reply=inbox)


async def _answers(
    replies: Subscription, asked: int, wait: int
) -> AsyncIterator[tuple[list[Delivery], Message | None]]:
    """Messages as they come, and the status that ended the request before `asked` of them."""
    left = asked
    while left:
        came = await replies.take(wait + _MARGIN)
        if not came:
            yield [], Message("", b"", headers={"Status": "408"})
            return
        found = []
        for message in came:
            status = message.headers.get("Status") if not message.reply else None
            if status is None:
                found.append(delivery(message))
            elif status != "100":
                yield found, message
                return
        left -= len(found)
        yield found, None


async def _settle(api: Api, stream: str, consumer: str, status: Message) -> None:
    """Raises what a status means, where it is more than the end of a request."""
    code = status.headers.get("Status")
    said = str(status.headers.get("Description", "")).split("\n")[0]
    what = f"{stream} > {consumer}"
    if code in ("404", "408"):
        return
    if code == "503":
        raise await _nobody(api, stream, consumer)
    lower = said.lower()
    if "push based" in lower:
        raise JsctlError(
            f"consumer {what} is push based: nothing can be pulled from it",
            "subscribe to its delivery subject instead",
        )
    if "consumer deleted" in lower:
        raise NotFound(f"consumer {what} was removed meanwhile")
    hints = {
        "maxwaiting": "other clients' pulls fill its queue; jsctl consumer info shows how many wait",
        "maxrequest": "ask for less: --count, --timeout",
        "batch": "ask for less: --count",
        "leadership": "its leader changed; try again",
        "shutdown": "its server goes down; try again",
    }
    hint = next((h for word, h in hints.items() if word in lower.replace(" ", "")), "")
    raise JsctlError(f"{what}: the server says {said or 'no'} ({code})", hint)


async def _nobody(api: Api, stream: str, consumer: str) -> JsctlError:
    """Why nobody answers NEXT. Only now more is asked than the pull needs, if that is allowed."""
    try:
        await consumers.info(api, stream, consumer, timeout=SECOND)
    except (Unreachable, NoResponders):
        return NoResponders(
            f"nobody answers for consumer {stream} > {consumer} on {api.prefix}",
            "is it there, its leaf node connected, NEXT imported?",
        )
    except JsctlError as error:
        return error
    return Unreachable(f"consumer {stream} > {consumer} has no leader now", "try again")
