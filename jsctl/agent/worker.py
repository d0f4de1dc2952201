"""A call in a process of its own, forked from the agent: it becomes what a process that the shell had started
would be, as far as a verb can see.
"""

import contextlib
import fcntl
import io
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from jsctl.base import ending

_STREAMS = (("stdin", "r", "strict"), ("stdout", "w", "strict"), ("stderr", "w", "backslashreplace"))


class Request(NamedTuple):
    """A call. files: as received, the working folder and then those that the client has at these places.
    ignored: signals. client: its process id, 0 if it is not known."""

    files: Sequence[int]
    places: Sequence[int]
    words: list[str]
    mask: int
    ignored: Sequence[int]
    environ: dict[bytes, bytes]
    client: int


def parse(block: bytes, files: Sequence[int], conditions: Sequence[str], client: int) -> Request:
    """Return the call in the bytes that its client sent. Raises ValueError if it has other conditions."""
    head, *parts = block.split(b"\0")
    conditions_count, files_count, words_count = map(int, head.split())
    rest = iter(parts)

    def take(count: int) -> list[bytes]:
        return [next(rest) for _ in range(count)]

    if [os.fsdecode(part) for part in take(conditions_count)] != [*conditions]:
        raise ValueError
    places = [int(part) for part in take(files_count)]
    words = [os.fsdecode(part) for part in take(words_count)]
    mask, ignored = int(next(rest)), [int(number) for number in next(rest).split()]
    pairs = (part.partition(b"=") for part in rest)
    if len(files) != files_count + 1:
        raise ValueError
    return Request(files, places, words, mask, ignored, {k: v for k, _, v in pairs}, client)


class Call(NamedTuple):
    """A call in the process that runs it. connection: to its client. imports: a pipe for the names of the
    modules that it imports."""

    request: Request
    connection: int
    imports: int


def run(call: Call) -> NoReturn:
    """Run a call, and end with its status."""
    known = {*sys.modules}
    try:
        connection, imports = _take_files(call.request, call.connection, call.imports)
        _become(call.request)
        os.write(connection, b"%d\n" % os.getpid())
    except BaseException:  # the client runs the call itself
        os._exit(1)
    try:
        from jsctl import __main__ as script

        script.run()
    except SystemExit as ended:
        status = (ended.code if isinstance(ended.code, int) else int(ended.code is not None)) & 0xFF
        with contextlib.suppress(OSError):  # the agent has been killed
            os.set_blocking(imports, False)
            os.write(imports, "\n".join(sys.modules.keys() - known).encode())
        with contextlib.suppress(OSError):
            os.write(connection, b"ends %d\n" % (status << 8))
        ending.end(status)


def _take_files(request: Request, *kept: int) -> list[int]:
    """Take the client's folder, and its files at their places; close all others of the agent but `kept`.
    Returns the new numbers of these."""
    os.fchdir(request.files[0])
    above = max(*request.places, *request.files, *kept) + 1
    files = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, above) for file in (*kept, *request.files[1:])]
    for place, file in zip(request.places, files[len(kept) :], strict=True):
        os.dup2(file, place)
    taken = {*request.places, *files[: len(kept)]}
    for file in range(max(files) + 1):
        if file not in taken:
            with contextlib.suppress(OSError):
                os.close(file)
    return files[: len(kept)]


def _become(request: Request) -> None:
    """Make this process what the client's is: group, environment, limits, signals and standard streams."""
    os.setpgid(0, 0)
    os.umask(request.mask)
    os.environb.clear()
    os.environb.update(request.environ)
    time.tzset()
    sys.argv[:] = request.words
    if request.client:
        _take_limits(request.client)
    for number in signal.valid_signals():
        with contextlib.suppress(OSError):  # SIGKILL, SIGSTOP
            signal.signal(number, signal.SIG_IGN if number in request.ignored else signal.SIG_DFL)
    if signal.SIGINT not in request.ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for file, (name, mode, errors) in enumerate(_STREAMS):
        stream = _open(file, mode, errors)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _open(file: int, mode: str, errors: str) -> io.TextIOWrapper:
    """Open a standard stream as Python does when it starts; unbuffered if it started this process so."""
    is_unbuffered = mode == "w" and isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.write_through
    is_by_line = file == 2 or os.isatty(file)
    buffer = os.fdopen(file, mode + "b", 0 if is_unbuffered else -1, closefd=False)
    stream = io.TextIOWrapper(buffer, "utf-8", errors, "\n", is_by_line, is_unbuffered)
    stream.mode = mode  # type: ignore[misc]
    return stream


def _take_limits(client: int) -> None:
    """Take the limits, the priority and the cores of a process (`ulimit`, `nice`, `taskset`), as far as the
    system says them."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, client))
        os.sched_setaffinity(0, os.sched_getaffinity(client))
    if not hasattr(resource, "prlimit"):
        return
    for name in dir(resource):
        if name.startswith("RLIMIT_"):
            with contextlib.suppress(OSError, ValueError):
                limit = getattr(resource, name)
                resource.setrlimit(limit, resource.prlimit(client, limit))
