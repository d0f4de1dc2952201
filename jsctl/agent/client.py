"""A call of `jsctl` that a running agent serves (see server.py): it hands over its command line, environment
and files, forwards signals, and ends as the call ends. Whatever does not fit runs as always, in this process.

It imports nothing that Python does not import at its start, beside _socket: it runs in place of all the rest.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import os
import sys

ADDRESS = "JSCTL_AGENT"
"""The variable with the path of the agent's socket."""

_TO_JOB = ("SIGINT", "SIGQUIT", "SIGWINCH", "SIGTSTP", "SIGHUP", "SIGCONT")
"""Signals that a terminal sends to each process of a job: they go to what a verb has started, too."""

_TO_VERB = ("SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM")

MAX_FILES = 64  #: that a call hands over; the kernel allows 253


def call(path: str, version: str) -> None:
    """Have the agent at a socket serve this call, and end with its status. Return if it does not: if there is
    none, or if it is another user's or another version's.
    """
    try:
        files = _list_files()
        folder = os.stat(path.rpartition("/")[0])  # noqa: PTH116
        if folder.st_uid != os.geteuid() or folder.st_mode & 0o077 or not _is_in_foreground():
            return
        agent = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        agent.connect(path)
        cwd = os.open(".", getattr(os, "O_PATH", os.O_RDONLY))
        try:
            send_request(agent, _build_request(version, files), [cwd, *files])
        finally:
            os.close(cwd)
        worker = int(_receive_line(agent))
    except (OSError, ValueError, AttributeError, UnicodeError):  # it is gone, or refuses
        return
    _end(_wait(agent, worker))


def _list_files() -> list[int]:
    """Return the open files that a program would inherit, of which 0 to 2 must be. Raises OSError."""
    for number in range(3):
        os.fstat(number)
    inherited = []
    for name in os.listdir("/proc/self/fd" if sys.platform == "linux" else "/dev/fd"):  # noqa: PTH208
        try:
            if os.get_inheritable(int(name)):
                inherited.append(int(name))
        except OSError:  # that of the listing
            continue
    if len(inherited) > MAX_FILES:
        raise OSError
    return sorted(inherited)


def _is_in_foreground() -> bool:
    """Return whether the terminal lets this process read, and does not stop it as one in the background."""
    try:
        return not os.isatty(0) or os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return True


def list_conditions() -> list[str]:
    """Return what must be the same in the agent and in a call, beside the version: the interpreter, its
    flags, and its variables."""
    variables = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("PYTHON"))
    options = f"{sys.flags} {sys.warnoptions}"
    return [sys.prefix, sys.version, options, os.fspath(__file__), *variables]


def _build_request(version: str, files: list[int]) -> bytes:
    mask = os.umask(0)
    os.umask(mask)
    ignored = [n for n in range(1, _signal.NSIG) if _signal.getsignal(n) == _signal.SIG_IGN]
    conditions = [version, *list_conditions()]
    head = [len(conditions), len(files), len(sys.argv)]
    parts: list[bytes] = [b" ".join(b"%d" % number for number in head)]
    parts += [os.fsencode(text) for text in conditions]
    parts += [b"%d" % number for number in files]
    parts += [os.fsencode(word) for word in sys.argv]
    parts += [b"%d" % mask, b" ".join(b"%d" % number for number in ignored)]
    parts += [name + b"=" + value for name, value in os.environb.items()]
    return b"\0".join(parts)


def send_request(agent: _socket.socket, request: bytes, files: list[int]) -> None:
    """Send a request with its files, which arrive with the first byte."""
    block = b"%d\n" % len(request) + request
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, b"".join(n.to_bytes(4, sys.byteorder) for n in files))]
    sent = agent.sendmsg([block], rights)
    if rest := block[sent:]:  # sending nothing fails, too, where the call has ended by now
        agent.sendall(rest)


def _receive_line(agent: _socket.socket) -> bytes:
    """Return the next line. Raises OSError when the connection is closed."""
    line = b""
    while not line.endswith(b"\n"):
        try:
            block = agent.recv(1)
        except TimeoutError:
            continue
        if not block:
            raise OSError("the agent closed the connection")
        line += block
    return line[:-1]


def _wait(agent: _socket.socket, worker: int) -> int:
    """Forward signals to the worker until it ends; return its status as of os.waitpid."""

    def forward(number: int, frame: object) -> None:
        try:  # noqa: SIM105
            (os.killpg if number in to_job else os.kill)(worker, number)
        except ProcessLookupError:
            pass

    to_job = [getattr(_signal, name) for name in _TO_JOB]
    for number in (*to_job, *(getattr(_signal, name) for name in _TO_VERB)):
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, forward)
    agent.settimeout(1)  # a signal that comes just before the wait begins is handled when the wait ends
    ending = 9  # as by SIGKILL
    while True:
        try:
            word, _, status = _receive_line(agent).partition(b" ")
        except OSError:  # the worker and the agent are gone
            return ending
        if word == b"ended":
            return int(status)
        if word == b"ends":
            ending = int(status)
        else:
            os.kill(os.getpid(), _signal.SIGSTOP)
            forward(_signal.SIGCONT, None)


def _end(status: int) -> None:
    """End as a process with this status of os.waitpid did."""
    if number := status & 0x7F:
        if number != _signal.SIGKILL:
            _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(status >> 8)
