"""`jsctl consumer next`."""

import asyncio
import random
from collections.abc import Sequence

import click

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.shared.pick import consumer_name, stream_name
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.jetstream.message import pull
from jsctl.jetstream.message.payload import shown
from jsctl.nats.acks import ACK, NAK, TERM
from jsctl.nats.message import Message
from jsctl.units import SECOND, exact_duration, format_count
from jsctl.views.consumer import pulled as view
from jsctl.views.result import Result, Text

_OPEN = 2 * pull.BATCH
"""Acknowledgements that may be in flight."""

_DONE = {ACK: "Acknowledged message", NAK: "Negative Acknowledged message",
         TERM: "Terminated message"}  # fmt: skip


@command(
    "next",
    examples=[
        "jsctl consumer next ORDERS DISPATCH",
        "jsctl consumer next ORDERS DISPATCH --count 100 --raw",
        "jsctl consumer next aggregate-test-leaf dur --js-api-prefix JS.acc@hub.API",
    ],
)
@argument("stream")
@argument("consumer")
@option("--ack/--no-ack", default=None, help="Acknowledge what is received (default)")
@option("--nak", is_flag=True, help="Acknowledge negatively: it comes again")
@option("--term", is_flag=True, help="Terminate: it does not come again")
@option("--raw", "-r", is_flag=True, help="Only the payload, byte for byte, and a line end")
@option(
    "--wait", type=DURATION, default=0, metavar="DURATION", help="Wait up to so long before acknowledging"
)
@option("--count", type=click.IntRange(min=1), default=1, metavar="NUMBER", help="Messages to fetch (1)")
@option("--group", metavar="GROUP", default="", help="Priority group to pull for")
async def next_message(
    env: Env,
    stream: str,
    consumer: str,
    ack: bool | None,
    nak: bool,
    term: bool,
    raw: bool,
    wait: int,
    count: int,
    group: str,
) -> Result:
    """Ends when --count came, or when none comes for --timeout. Needs the rights to NEXT and ACK alone."""
    kind = _kind(ack, nak, term)
    api = await env.jetstream()
    stream, consumer = stream_name(stream), consumer_name(consumer)
    output = _Output(env, raw)
    batch = 1 if wait else pull.BATCH
    pulls = pull.pull(api, stream, consumer, count, wait=api.timeout, batch=batch, group=group)
    async with pull.Acks(api.connection) as acks:
        async for items in pulls:
            # The first one goes alone: it shows whether anybody takes acknowledgements.
            for some in (items,) if acks.sent or not kind else filter(None, (items[:1], items[1:])):
                await _take(output, acks, some, kind, wait, api.timeout)
        await acks.settle(0, api.timeout)
    if acks.untaken:
        env.say(
            f"jsctl: nobody took {format_count(acks.untaken)} of {format_count(acks.sent)} acknowledgements:"
            " the consumer needs none, or its $JS.ACK subjects are not imported"
        )
    status = ExitStatus.OK
    if output.count < count:
        env.say(
            f"jsctl: {format_count(output.count)} of {format_count(count)} messages;"
            f" no more came in {exact_duration(api.timeout)}"
        )
        status = ExitStatus.NOT_FOUND
    return output.result(count)._replace(status=status)


async def _take(
    output: "_Output", acks: pull.Acks, items: Sequence[Message], kind: bytes | None, wait: int, timeout: int
) -> None:
    """Show messages and acknowledge them; that it was done is said of one when it is, and of many, whose
    acknowledgements may still be on their way, where others were taken. wait, timeout: ns."""
    alone = bool(wait) or not acks.sent
    output.messages(items, _DONE[kind] if kind and not (alone or acks.untaken) else "")
    if not kind:
        return
    slept = random.randrange(wait) if wait else 0
    await asyncio.sleep(slept / SECOND)
    await acks.send(items, kind)
    await acks.settle(0 if alone else _OPEN, timeout)
    if alone and not acks.untaken:
        output.acknowledged(_DONE[kind], slept)


def _kind(ack: bool | None, nak: bool, term: bool) -> bytes | None:
    if (ack and (nak or term)) or (nak and term):
        raise BadInput("--ack, --nak and --term exclude each other")
    if term:
        return TERM
    if nak:
        return NAK
    return None if ack is False else ACK


class _Output:
    """Messages as they come, on stdout; with --json collected, for one document has them all."""

    def __init__(self, env: Env, raw: bool) -> None:
        if env.form in ("csv", "tsv"):
            raise BadInput("messages are no table", "use --json")
        self._env = env
        self._raw = raw
        self._records: list[object] = []
        self.count = 0

    def messages(self, items: Sequence[Message], after: str) -> None:
        """Show them, and what is done with each."""
        self.count += len(items)
        if self._env.wants_json:
            self._records.extend(map(view.record, items))
        elif self._raw and self._env.is_terminal:
            self._show("\n".join(shown(item.data) for item in items))
        elif self._raw:
            self._env.write_bytes(b"".join(item.data + b"\n" for item in items))
        else:
            now = self._env.clock()
            end = f"\n\n{after}\n" if after else "\n"
            self._show("\n".join(view.message(item, now) + end for item in items).removesuffix("\n"))

    def acknowledged(self, what: str, slept: int) -> None:
        if not self._raw and not self._env.wants_json:
            self._show(f"\n{what} after {exact_duration(slept)} delay\n" if slept else f"\n{what}\n")

    def result(self, count: int) -> Result:
        if not self._env.wants_json:
            return Result()
        return Result(data=self._records[0] if count == 1 else self._records)

    def _show(self, text: str) -> None:
        self._env.emit(Result([Text(text)]))
        self._env.streams.stdout.flush()
