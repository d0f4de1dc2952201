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

_OF_TERMINAL = frozenset({"edit", "vi", "errors", "shell"})
"""Words of a line that may start a program, such as an editor, that needs the terminal to be its own: in the
agent's session it is not."""

_VARIABLES = ("PYTHON", "LD_", "DYLD_", "GLIBC_", "MALLOC_", "OPENSSL_")
"""How the names of variables begin that are read when a process starts."""

MAX_FILES = 64  #: that a call hands over; the kernel allows 253


def call(path: str, version: str) -> None:
    """Have the agent at a socket serve this call, and end with its status. Return if it does not: if there is
    none, or if it is another user's or another version's.
    """
    try:
        files = _list_files()
        folder = os.stat(path.rpartition("/")[0])  # noqa: PTH116
        if folder.st_uid != os.geteuid() or folder.st_mode & 0o077 or not _may_use_terminal():
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


def _may_use_terminal() -> bool:
    """Return whether the terminal lets a process of another session do what this one does: it must not be one
    in the background, which the terminal stops when it reads."""
    try:
        return not os.isatty(0) or (os.tcgetpgrp(0) == os.getpgrp() and _OF_TERMINAL.isdisjoint(sys.argv))
    except OSError:
        return True


def list_conditions() -> list[str]:
    """Return what must be the same in the agent and in a call, beside the version: the interpreter, its
    flags, what was installed, and variables."""
    variables = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_VARIABLES))
    options = f"{sys.flags} {sys.warnoptions}"
    file = os.stat(__file__)  # noqa: PTH116  # another one when the same version was installed again
    return [sys.prefix, sys.version, options, f"{__file__} {file.st_ino} {file.st_mtime_ns}", *variables]


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
    """Forward signals to the worker until it ends, stop as it does; return its status as of os.waitpid."""
    forwarded = _signal.SIGCONT

    def forward(number: int, frame: object) -> None:
        nonlocal forwarded
        forwarded = number
        try:  # noqa: SIM105
            (os.killpg if number in to_job else os.kill)(worker, number)
        except ProcessLookupError:
            pass

    to_job = [getattr(_signal, name) for name in _TO_JOB]
    for number in (*to_job, *(getattr(_signal, name) for name in _TO_VERB)):
        _signal.signal(number, forward)  # also of one that is ignored so far: a verb may handle it
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
            # What was not stopped by a signal to this process has stopped its group, as an editor does.
            _stop(int(status), os.getpid() if forwarded == int(status) else 0)
            forward(_signal.SIGCONT, None)


def _stop(number: int, process: int) -> None:
    """Stop a process, or the group of this one if it is 0; the system does not where no shell could continue
    it."""
    if number == _signal.SIGSTOP:
        os.kill(os.getpid(), number)
        return
    previous = _signal.signal(number, _signal.SIG_DFL)
    os.kill(process, number)
    _signal.signal(number, previous)


def _end(status: int) -> None:
    """End as a process with this status of os.waitpid did."""
    if number := status & 0x7F:
        if number != _signal.SIGKILL:
            _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(status >> 8)
