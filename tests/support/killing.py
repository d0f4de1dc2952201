"""Run jsctl in a process that kills itself (SIGKILL) before the N-th call that changes the file system.

Such a process ends between any two of its system calls, as often as a test asks for it, and not when a clock
happens to say so.
"""

import itertools
import os
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsctl.nats.asyncio_driver import AsyncioDriver

_CALLS = ("open", "mkdir", "rename", "replace", "fsync", "unlink", "rmdir", "link", "symlink")


_EVERYWHERE = ("fsync", "send", "_write")
"""Calls that count wherever they are; `send` is that of a connection, `_write` that of a journal."""

REQUESTS: Mapping[Any, Sequence[str]] = {AsyncioDriver: ["send"]}
"""What sends requests and messages, to be patched."""


@dataclass
class Killer:
    """A counter of the calls with a path in a folder, and of all of `_EVERYWHERE`; it sends the process a
    signal before call `number`."""

    folder: Path
    number: int
    signal: int = signal.SIGKILL
    count: int = 0
    log: int = -1  #: file descriptor that the calls' names are written to

    def watch(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the call to use instead of `call`."""

        def watched(*args: Any, **more: Any) -> Any:
            counts = name in _EVERYWHERE or more.get("dir_fd") is not None or self._is_inside(args[0])
            if counts and (name != "open" or _writes(*args[1:2])):
                self.count += 1
                if self.count == self.number:
                    os.write(self.log, name.encode())
                    os.kill(os.getpid(), self.signal)
            return call(*args, **more)

        return watched

    def _is_inside(self, path: Any) -> bool:
        return not isinstance(path, int) and os.fsdecode(path).startswith(str(self.folder))


def _writes(mode: int | str = "r") -> bool:
    """Return whether a file is opened for writing, by `os.open` or `io.open`."""
    return bool(mode & (os.O_WRONLY | os.O_RDWR)) if isinstance(mode, int) else bool({*mode} & {*"wax+"})


def kill_points(
    work: Callable[[], object],
    folder: Path,
    patched: Mapping[Any, Sequence[str]],
    step: int = 1,
    first: int = 1,
) -> Iterator[tuple[int, str]]:
    """Run the work again and again, killed at one call after the other; yield (number, call) for each run
    that was killed.

    Ends with the run that was not killed. The caller restores the folder before each.

    patched: names of functions in modules or classes, beside those of `os`. step: every how many points,
    from the `first` one. Fails when the work raises an error, which stderr has.
    """
    for number in itertools.count(first, step):
        call = run_killed(work, Killer(folder, number), patched)
        if not call:
            return
        yield number, call


def run_killed(work: Callable[[], object], killer: Killer, patched: Mapping[Any, Sequence[str]]) -> str:
    """Run the work in a process that the killer sends its signal; return the call before which it did, or
    nothing for work that ended earlier. Fails when the work raises an error, which stderr has."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            killer.log = writing
            for owner, names in [(os, _CALLS), *patched.items()]:
                for name in names:
                    setattr(owner, name, killer.watch(name, getattr(owner, name)))
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writing)
    _, result = os.waitpid(pid, 0)
    with os.fdopen(reading) as log:
        call = log.read()
    if not os.WIFSIGNALED(result):
        assert os.WEXITSTATUS(result) == 0, "failed without being killed"
    return call


def print_table(what: str, points: Sequence[str], outcomes: Sequence[str]) -> None:
    """Print how many processes were killed before which call, and what was there afterwards."""
    calls = ", ".join(f"{call} {count}" for call, count in sorted(Counter(points).items()))
    states = ", ".join(f"{state} {count}" for state, count in sorted(Counter(outcomes).items()))
    print(f"{what:<28} {len(points):>4} killed before: {calls:<70} left: {states}")
