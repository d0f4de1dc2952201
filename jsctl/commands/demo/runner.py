"""Runs the demo's command lines, each as a process of its own, as a person would."""

import asyncio
import contextlib
import io
import json
import os
import shlex
import signal
from typing import Any

from jsctl.commands.demo.steps import Step
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api
from jsctl.localserver.process import own
from jsctl.nats.connection import Connection
from jsctl.units import SECOND
from jsctl.views.result import Result, Text

_GRACE = 10.0
"""Seconds that a command may take to end after ctrl-C; Spark needs some."""


class StepFailed(Exception):
    """A command failed, and has said why."""


class Runner:
    """values: what stands for the names in braces in a step. url: the hub's, with the login of its user."""

    def __init__(self, env: Env, values: dict[str, str], url: str) -> None:
        self._env = env
        self._values = values
        self._url = url
        self.done: list[dict[str, Any]] = []  #: with --json, what each command printed
        # The demo's contexts say it all; the user's NATS_URL or NATS_CREDS would come before them.
        self._environ = {k: v for k, v in env.environ.items() if not k.startswith("NATS_")}

    async def run(self, step: Step) -> None:
        """Show a command line, run it, show its output. Raises StepFailed, and JsctlError when the hub does
        not copy."""
        args = [self._fill(arg) for arg in step.args]
        shown = shlex.join(["jsctl", *args])
        if not self._env.wants_json:
            note = f"# {step.note}\n" if step.note else ""
            self._env.emit(Result([Text(f"\n{note}$ {shown}\n", "bold")]))
        if step.copied:
            await self._until_copied(step.copied)
        if form := self._env.flags.get("form"):
            args = ["--as", form, *args]
        status, output = await self._process(args, step.gentle)
        if status:
            raise StepFailed
        if self._env.wants_json:
            self.done.append({"command": shown, "output": _parsed(output)})
        elif output:
            self._env.streams.stdout.write(output)

    def _fill(self, arg: str) -> str:
        return self._values.get(arg.strip("{}"), arg) if arg.startswith("{") else arg

    async def _process(self, args: list[str], gentle: bool) -> tuple[int, str]:
        """Exit status and what went to stdout, empty where that is ours and the command wrote to it."""
        out: int | None = None if self._env.wants_json else _descriptor(self._env.streams.stdout)
        self._env.streams.stdout.flush()
        process = await asyncio.create_subprocess_exec(
            *own("jsctl", *args),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE if out is None else out,
            env=self._environ,
            start_new_session=True,  # so that it can be ended with all that it started
        )
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            await _end(process, gentle)
            raise
        return process.returncode or 0, (output or b"").decode(errors="replace")

    async def _until_copied(self, streams: tuple[str, ...]) -> None:
        connection = await Connection.open(Settings(url=self._url, timeout=5 * SECOND))
        try:
            api = Api(connection, domain="hub")
            async with asyncio.timeout(30):
                for stream in streams:
                    await _until_filled(api, stream)
        except TimeoutError:
            raise JsctlError("the hub does not copy from the leaf node") from None
        finally:
            await connection.close()


async def _until_filled(api: Api, stream: str) -> None:
    while True:
        info = await api.call(f"STREAM.INFO.{stream}")
        if info["state"]["messages"]:
            return
        await asyncio.sleep(0.05)


async def _end(process: asyncio.subprocess.Process, gentle: bool) -> None:
    """End a command and what it started: by a signal, then by force."""
    # SIGTERM is silent, where ctrl-C during Python's own start is a traceback.
    for number in (signal.SIGINT if gentle else signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await process.wait()


def _descriptor(stream: Any) -> int | None:
    try:
        return int(stream.fileno())
    except (OSError, io.UnsupportedOperation):
        return None


def _parsed(output: str) -> Any:
    try:
        return json.loads(output)
    except ValueError:
        return output
