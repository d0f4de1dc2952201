"""Messages about alerts, delivered to a command, a webhook or stderr at least once."""

import asyncio
import json
import os
from collections.abc import Callable, Sequence

from jsctl.base.loops import cancel_all, run_abandonable
from jsctl.base.units import SECOND
from jsctl.errors import JsctlError
from jsctl.jetstream.message.user_command import run_command
from jsctl.monitor.alerts.machine import Event
from jsctl.monitor.alerts.messages import build_messages
from jsctl.monitor.alerts.rules import AlertFile, Receiver
from jsctl.monitor.alerts.store import Message, Store

_TIMEOUT = 10.0  #: seconds that a command or a webhook may take
_CLOSING = 5.0  #: seconds that are waited at the end
_MAX_OUTPUT = 1 << 20  #: bytes that a command may write


class Courier:
    """What delivers the messages of a store while rounds go on, to each receiver one by one. What could not
    be delivered waits for the next round; what was delivered just before this process was killed is delivered
    again, under the same id. say: shows a line to people."""

    def __init__(self, file: AlertFile, store: Store, say: Callable[[str], None]) -> None:
        self._receivers = {receiver.name: receiver for receiver in file.receivers}
        self._store = store
        self._say = say
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._errors: dict[str, str] = {}

    def list_messages(self, events: Sequence[Event]) -> list[Message]:
        """Return the messages about the events of a round."""
        return [
            message for receiver in self._receivers.values() for message in build_messages(receiver, events)
        ]

    def start(self) -> None:
        """Begin to deliver what waits, except to receivers to whom that is being done: one that hangs keeps
        nobody else waiting."""
        for name in dict.fromkeys(message.receiver for message in self._store.waiting):
            if name not in self._tasks or self._tasks[name].done():
                self._tasks[name] = asyncio.ensure_future(self._deliver_to(name))

    async def close(self) -> None:
        """Wait until what waits was tried once; what remains is tried by the next run."""
        self.start()
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=_CLOSING)
            await cancel_all(self._tasks.values())

    async def _deliver_to(self, name: str) -> None:
        """Deliver what waits for a receiver, one after the other, until that fails."""
        receiver, error = self._receivers.get(name), ""
        while message := next((one for one in self._store.waiting if one.receiver == name), None):
            if error := "" if receiver is None else await self._deliver(receiver, message):
                error += "; it is tried again"
                break
            try:
                self._store.remove(message)
            except JsctlError as failure:
                error = str(failure)
                break
        if error and error != self._errors.get(name):
            self._say(f"jsctl: receiver {name}: {error}")
        self._errors[name] = error

    async def _deliver(self, receiver: Receiver, message: Message) -> str:
        """Deliver a message. Returns why that failed, empty if it did not."""
        if receiver.webhook:
            try:
                async with asyncio.timeout(_TIMEOUT):
                    return await run_abandonable(_post, receiver.webhook, message)
            except TimeoutError:
                return f"the webhook took longer than {_TIMEOUT:.0f}s"
        if receiver.command:
            return await _run(receiver.command, message)
        for line in message.payload["text"].splitlines():
            self._say(f"jsctl: {line}")
        return ""


async def _run(command: Sequence[str], message: Message) -> str:
    """Run a command that reads a message from stdin. Returns why it failed, empty if it did not."""
    output = await run_command(
        command,
        _MAX_OUTPUT,
        stdin=f"{json.dumps(message.payload)}\n".encode(),  # with its end, for a command that appends it
        variables={**os.environ, "JSCTL_ALERT_ID": message.id},
        with_stderr=True,
        limit=round(_TIMEOUT * SECOND),
    )
    words = output.data.decode(errors="replace").strip().splitlines()
    return output.failure and output.failure + (f": {words[-1]}" if words else "")


def _post(url: str, message: Message) -> str:
    """Post a message. Returns why that failed, empty if it did not. The address, which may hold a secret, is
    in no text."""
    from jsctl.base.http_requests import request

    try:
        headers = {"Content-Type": "application/json", "Idempotency-Key": message.id}
        status, body = request(url, headers, _TIMEOUT, json.dumps(message.payload).encode())
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        return f"the webhook cannot be reached: {getattr(reason, 'strerror', None) or reason}"
    if 200 <= status < 300:
        return ""
    return f"the webhook answered {status} {body[:100].decode(errors='replace').strip()}".strip()
