"""Commands of the user whose output is data: limited in size and time, and ended with all their processes."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jsctl.base.units import SECOND, format_exact_duration

MAX_DURATION = 60 * SECOND
"""Maximum time that a command may take for one message, in ns."""

_BLOCK = 1 << 16
_KILL_SECONDS = 1.0  #: until a killed command has to end


class Output(NamedTuple):
    """The output of a command. failure: why it failed, empty for success. did_run: whether it started and was
    not killed."""

    data: bytes
    failure: str = ""
    did_run: bool = True


async def run_command(
    words: Sequence[str],
    max_size: int,
    *,
    stdin: bytes | None = None,
    variables: Mapping[str, str] | None = None,
    with_stderr: bool = False,
    limit: int = 0,
) -> Output:
    """Run a command and return what it writes to stdout.

    max_size: bytes of output; with more, or after `limit` ns (0: MAX_DURATION), it is killed. stdin: what it
    reads; None for nothing. variables: its environment, by default ours. with_stderr: include what it writes
    to stderr.
    """
    limit = limit or MAX_DURATION
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT if with_stderr else None,
            env=variables,
            start_new_session=True,  # what it starts is killed with it
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        return Output(b"", f"cannot run {words[0]}: {reason}", did_run=False)
    writing = asyncio.ensure_future(_write(process, stdin or b""))
    try:
        async with asyncio.timeout(limit / SECOND):
            data = await _read(process, max_size)
            if data is None:
                return Output(b"", f"{words[0]} wrote more than {max_size:,} bytes and was ended", False)
            await process.wait()
    except TimeoutError:
        return Output(b"", f"{words[0]} took longer than {format_exact_duration(limit)} and was ended", False)
    finally:
        writing.cancel()
        await _end(process)
    status = process.returncode
    return Output(data, f"{words[0]} ended with status {status}" if status else "")


async def _write(process: asyncio.subprocess.Process, data: bytes) -> None:
    """Write the command's input. A command may end without reading all of it."""
    if process.stdin is None:
        return
    with contextlib.suppress(OSError):
        process.stdin.write(data)
        await process.stdin.drain()
    with contextlib.suppress(OSError):
        process.stdin.close()


async def _read(process: asyncio.subprocess.Process, max_size: int) -> bytes | None:
    """Return what the command writes; None for more than `max_size` bytes."""
    data = bytearray()
    while process.stdout and (block := await process.stdout.read(_BLOCK)):
        data += block
        if len(data) > max_size:
            return None
    return bytes(data)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill a command that is still running, with the processes that it started."""
    if process.returncode is not None:
        return
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_KILL_SECONDS):  # a process that left the group may keep the pipe open
            while process.stdout and await process.stdout.read(_BLOCK):
                pass
            await process.wait()
