"""Messages about alerts, delivered to a command, a webhook or stderr."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence

from jsctl.base.loops import gather, run_abandonable
from jsctl.jetstream.api import Json
from jsctl.monitor.alerts.machine import Event
from jsctl.monitor.alerts.messages import build_messages, build_payload
from jsctl.monitor.alerts.rules import AlertFile, Receiver
from jsctl.monitor.alerts.store import Store

_TIMEOUT = 10.0  #: seconds that a command or a webhook may take
_CLOSING = 5.0  #: seconds that are waited at the end


class Courier:
    """What delivers the messages of a store while rounds go on, to each receiver one by one. What could not
    be delivered waits for the next round. say: shows a line to people."""

    def __init__(self, file: AlertFile, store: Store, say: Callable[[str], None]) -> None:
        self._receivers: Mapping[str, Receiver] = {receiver.name: receiver for receiver in file.receivers}
        self._store = store
        self._say = say
        self._task: asyncio.Task[None] | None = None
        self._errors: dict[str, str] = {}

    def list_messages(self, events: Sequence[Event]) -> list[tuple[str, Json]]:
        """Return the messages about the events of a round, each with the name of its receiver."""
        return [
            (receiver.name, build_payload(receiver, group))
            for receiver in self._receivers.values()
            for group in build_messages(receiver, events)
        ]

    def start(self) -> None:
        """Begin to deliver what waits, if that is not being done."""
        if self._store.waiting and (self._task is None or self._task.done()):
            self._task = asyncio.ensure_future(self._deliver_all())

    async def close(self) -> None:
        """Wait until what waits was tried once; what remains is tried by the next run."""
        self.start()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_CLOSING)
            self._task.cancel()

    async def _deliver_all(self) -> None:
        """Deliver to all receivers at once, so that one that hangs keeps nobody else waiting."""
        names = dict.fromkeys(name for name, _ in self._store.waiting)
        await gather(self._deliver_to(name) for name in names)

    async def _deliver_to(self, name: str) -> None:
        """Deliver what waits for a receiver, one after the other, until that fails."""
        receiver, error = self._receivers.get(name), ""
        for message in [one for one in self._store.waiting if one[0] == name]:
            error = "" if receiver is None else await self._deliver(receiver, message[1])
            if error:
                break
            if message in self._store.waiting:
                self._store.waiting.remove(message)
                self._store.save()
        if error and error != self._errors.get(name):
            self._say(f"jsctl: receiver {name}: {error}; it is tried again")
        self._errors[name] = error

    async def _deliver(self, receiver: Receiver, payload: Json) -> str:
        """Deliver a message. Returns why that failed, empty if it did not."""
        if receiver.webhook:
            return await run_abandonable(_post, receiver.webhook, payload)
        if receiver.command:
            return await _run(receiver.command, payload)
        for line in payload["text"].splitlines():
            self._say(f"jsctl: {line}")
        return ""


async def _run(command: Sequence[str], payload: Json) -> str:
    """Run a command that reads a message from stdin. Returns why it failed, empty if it did not."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        return f"cannot run {command[0]}: {error.strerror}"
    try:
        line = f"{json.dumps(payload)}\n".encode()  # with its end, for a command that appends it to a file
        _, said = await asyncio.wait_for(process.communicate(line), _TIMEOUT)
    except TimeoutError:
        return f"{command[0]} took longer than {_TIMEOUT:.0f}s, and was ended"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        words = said.decode(errors="replace").strip().splitlines()
        return f"{command[0]} ended with status {process.returncode}" + (f": {words[-1]}" if words else "")
    return ""


def _post(url: str, payload: Json) -> str:
    """Post a message. Returns why that failed, empty if it did not. The address, which may hold a secret, is
    in no text."""
    from jsctl.base.http_requests import request

    try:
        headers = {"Content-Type": "application/json"}
        status, body = request(url, headers, _TIMEOUT, json.dumps(payload).encode())
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        return f"the webhook cannot be reached: {getattr(reason, 'strerror', None) or reason}"
    if 200 <= status < 300:
        return ""
    return f"the webhook answered {status} {body[:100].decode(errors='replace').strip()}".strip()
