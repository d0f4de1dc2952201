"""Messages pulled from a consumer, each acknowledged after it was shown (`consumer next`)."""

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import NamedTuple

from jsctl.base.units import SECOND
from jsctl.jetstream.api import Api
from jsctl.jetstream.message import pull
from jsctl.nats.message import Message

_IN_FLIGHT = 2 * pull.BATCH
"""Acknowledgements that may be on their way."""


class Delivery(NamedTuple):
    """A message. ack: its acknowledgement, which is sent without waiting for the confirmation; None when an
    Acknowledgement reports it, or when nobody receives acknowledgements."""

    message: Message
    ack: bytes | None = None


class Acknowledgement(NamedTuple):
    """The acknowledgement of the preceding message. delay: ns between the two."""

    ack: bytes
    delay: int


class Deliveries:
    """One run of pulling: iterate over `read_batches`.

    limit: number of messages. ack: how to acknowledge them, None not at all. wait: maximum of a random time
    before an acknowledgement, in ns. group: the priority group to pull for. one_by_one: whether each message
    is acknowledged alone, as it may be the last one that is taken.
    """

    def __init__(
        self,
        api: Api,
        stream: str,
        consumer: str,
        *,
        ack: bytes | None,
        limit: int = 1,
        wait: int = 0,
        group: str = "",
        one_by_one: bool = False,
    ) -> None:
        self.limit = limit
        self.timeout = api.timeout  #: ns without a message that end it
        self.received = 0  #: messages
        self._api = api
        self._stream = stream
        self._consumer = consumer
        self._ack, self._wait, self._group = ack, wait, group
        self._one_by_one = one_by_one
        self.acks = pull.Acks(api.connection)

    async def read_batches(self) -> AsyncGenerator[Sequence[Delivery | Acknowledgement], None]:
        """Yield messages as they arrive; they are acknowledged when the next batch is requested.

        Raises NotFound when there is no message at all, RequestTimeout when acknowledgements are not
        confirmed, and what `pull` raises.
        """
        acks = self.acks
        pulled = pull.pull(
            self._api,
            self._stream,
            self._consumer,
            self.limit,
            wait=self.timeout,
            batch=1 if self._wait else pull.BATCH,
            careful=self._one_by_one,
            group=self._group,
        )
        async with acks, aclosing(pulled) as batches:
            async for messages in batches:
                self.received += len(messages)
                # The first message is delivered alone: it shows whether anybody receives acknowledgements.
                is_first = self._ack is not None and not acks.sent
                parts = (messages[:1], messages[1:]) if is_first else (messages,)
                for part in ([message] for message in messages) if self._one_by_one else filter(None, parts):
                    async for events in self._deliver(part):
                        yield events
            await acks.settle(0, self.timeout)

    async def _deliver(
        self, messages: Sequence[Message]
    ) -> AsyncGenerator[Sequence[Delivery | Acknowledgement], None]:
        ack, wait, acks = self._ack, self._wait, self.acks
        alone = bool(wait) or not acks.sent
        reported = ack if ack and not (alone or acks.unanswered) else None
        yield [Delivery(message, reported) for message in messages]
        if not ack:
            return
        delay = random.randrange(wait) if wait else 0
        await asyncio.sleep(delay / SECOND)
        await acks.send(messages, ack)
        await acks.settle(0 if alone else _IN_FLIGHT, self.timeout)
        if alone and not acks.unanswered:
            yield [Acknowledgement(ack, delay)]
