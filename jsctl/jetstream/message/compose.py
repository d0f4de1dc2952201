"""Messages to publish: a template with a body, with the lines of stdin, or with the messages of a dump."""

import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from itertools import chain, count, islice, repeat
from typing import NamedTuple, TextIO

from jsctl.base.loops import sleep
from jsctl.base.units import SECOND
from jsctl.jetstream.message.stdin import Stdin
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.message_template import MessageTemplate

Bursts = AsyncGenerator[Sequence[OutgoingMessage], None]

ORIGINAL_PACE = -1
"""A pause: messages are as far apart as those of a dump were first published."""

_BURST = 256  #: messages that are composed before they are sent


class Dump(NamedTuple):
    """A dump of messages. path: its file or folder; `-` for stdin."""

    path: str
    stdin: TextIO


Source = bytes | Stdin | Dump


async def compose(
    template: MessageTemplate,
    source: Source,
    *,
    copies: int = 1,
    by_line: bool = False,
    pause: int = 0,
    jitter: int = 0,
    singly: bool = False,
) -> Bursts:
    """Compose messages, and yield them in bursts that are sent at once. Raises BadInput.

    copies: number of messages with a body. by_line: whether each line of stdin is a body. pause: ns between
    two messages. jitter: how much longer, in ns, a pause may be at random. singly: whether each message is
    composed when it is asked for, as with a pause: templates may hold the time.
    """
    size = 1 if singly or pause or jitter else _BURST
    delay = shift = 0  #: ns; shift: from the times of a dump to the monotonic clock
    async for group in _fill(template, source, copies, by_line):
        messages = iter(group)
        while burst := list(islice(messages, size)):
            if pause == ORIGINAL_PACE and (time_ns := burst[0].time):
                shift = shift or time.monotonic_ns() - time_ns
                delay = time_ns + shift - time.monotonic_ns()
            if delay > 0:
                await sleep(delay / SECOND)
            yield burst
            delay = pause + (_draw(jitter) if jitter else 0)


def _draw(limit: int) -> int:
    import random  # only where pauses differ

    return random.randint(0, limit)


async def _fill(
    template: MessageTemplate, source: Source, copies: int, by_line: bool
) -> AsyncGenerator[Iterable[OutgoingMessage], None]:
    """Yield the messages in groups as they become available."""
    first = 1
    if isinstance(source, Dump):
        from jsctl.jetstream.message import dump

        async for messages in dump.read(*source):
            yield map(template.change, messages, count(first))
            first += len(messages)
    elif by_line and isinstance(source, Stdin):
        async for lines in source.read_lines():
            yield chain.from_iterable(map(template.fill, lines, count(first, copies), repeat(copies)))
            first += copies * len(lines)
    else:
        body = await source.read_all() if isinstance(source, Stdin) else source
        yield template.fill(body, count=copies)
