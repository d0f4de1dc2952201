"""The folder of a network: its lock, its configurations, its logs.

See `processes` for the locks that show which servers run.
"""

import asyncio
import contextlib
import hashlib
import os
import shutil
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

from jsctl.base.command_lines import build_line
from jsctl.base.files import write_atomically
from jsctl.base.posix import has_locks, make_private_folder, open_private
from jsctl.base.user_folders import find_data_folder
from jsctl.errors import JsctlError
from jsctl.localserver import processes
from jsctl.localserver.state import load_state
from jsctl.localserver.topology import Topology, fill

LOCK = ".changing"
_MOMENT_SECONDS = 0.5  #: a process that a killed jsctl was starting holds its lock this long
_ELSEWHERE = ".elsewhere"  #: a folder beside the default ones, with links to the others

_HEAD = "# Written by jsctl, and written again unless edited: "


def get_default(environ: Mapping[str, str], name: str) -> Path:
    """Return the default folder for the data of a network: $XDG_DATA_HOME/jsctl/NAME."""
    return find_data_folder(environ) / "jsctl" / name


def list_known(environ: Mapping[str, str]) -> list[Path]:
    """Return the folders that may hold networks: the default ones, and those of `remember`."""
    base = get_default(environ, _ELSEWHERE)
    remembered = []
    for link in base.glob("*"):
        target = link.resolve()
        if target.is_dir():
            remembered.append(target)
        else:  # removed by hand
            link.unlink(missing_ok=True)
    folders = [*(path for path in base.parent.glob("*") if path.name != _ELSEWHERE), *remembered]
    return sorted(folders, key=lambda path: (path.name, str(path)))


def remember(environ: Mapping[str, str], folder: Path) -> None:
    """Record a network's folder that is not a default one. If the record cannot be written, the network is
    found only by its path."""
    link = _get_link(environ, folder)
    if folder.resolve().parent != link.parent.parent.resolve():
        with contextlib.suppress(OSError):
            make_private_folder(link.parent)
            link.symlink_to(folder.resolve())


def forget(environ: Mapping[str, str], folder: Path) -> None:
    """Remove the record of a folder that `remember` wrote."""
    link = _get_link(environ, folder)
    link.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # there are others
        link.parent.rmdir()
        link.parent.parent.rmdir()


def _get_link(environ: Mapping[str, str], folder: Path) -> Path:
    return get_default(environ, _ELSEWHERE) / _compute_digest(str(folder.resolve()))


@contextlib.contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Create a folder and hold its lock, so that only one jsctl at a time changes a network.

    Raises JsctlError, also on Windows: locks and signals show there neither whether servers run nor end them.
    """
    if not has_locks():
        raise JsctlError(
            "servers on this machine need locks and signals, which Windows lacks",
            "run jsctl in WSL, or start nats-server yourself: jsctl version says where it is",
        )
    try:
        make_private_folder(folder)
        handle = open_private(folder / LOCK, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise JsctlError(
            f"cannot write to {folder}: {error.strerror}", "choose another folder with --store"
        ) from None
    try:
        if not processes.take_lock(handle, _MOMENT_SECONDS):
            raise JsctlError(
                f"another jsctl is starting or stopping servers in {folder}", "try again when it has finished"
            )
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def creating(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder for a start. One that did not exist is removed when the start fails, unless
    the error points at a file in it.

    Raises JsctlError.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        with changing(folder):
            yield
    except Exception as error:
        if folder in missing and str(folder) not in str(error):
            shutil.rmtree(folder, ignore_errors=True)
            for parent in missing[1:]:
                with contextlib.suppress(OSError):  # others have used it meanwhile
                    parent.rmdir()
        raise


def is_in_use(folder: Path) -> bool:
    """Return whether a network runs in a folder."""
    return bool(processes.find_all(folder))


def refuse_in_use(folder: Path) -> None:
    """Raise JsctlError if a network runs in a folder; it says how to start servers of it that do not run."""
    if running := processes.find_all(folder):
        owner = next(iter(running.values())).pid
        stop = f"stop it with {build_line('server stop', str(folder))}"
        state = load_state(folder)
        if state and (ended := [node.name for node in state.nodes if node.name not in running]):
            line = build_line("server network start", *ended, flags=["--network", state.name])
            stop = f"start {', '.join(ended)} again with {line}, {stop}"
        raise JsctlError(
            f"{folder} is in use by a local server (process {owner})",
            f"{stop}, or choose another folder with --store or --name",
        )


def write_configs(folder: Path, topology: Topology, ports: Mapping[str, int]) -> list[str]:
    """Write the configurations of a topology, except edited ones, whose names it returns.

    Raises JsctlError.
    """
    templates = {f"{node.name}.conf": node.config for node in topology.nodes if node.file is None}
    edited = []
    try:
        for name, template in {**templates, **topology.files}.items():
            path = folder / name
            if path.exists() and not _is_ours(path.read_text(encoding="utf-8", errors="replace")):
                edited.append(name)
            else:
                text = fill(template, ports)
                write_atomically(path, f"{_HEAD}{_compute_digest(text)}\n{text}")
    except OSError as error:
        raise JsctlError(
            f"cannot write {error.filename}: {error.strerror}", "choose another folder with --store"
        ) from None
    return edited


def start_log(folder: Path, name: str) -> Path:
    """Create an empty log for a server, and keep the previous one as `<name>.log.1`. Raises JsctlError."""
    path = folder / f"{name}.log"
    try:
        if path.exists():
            path.replace(path.with_name(f"{name}.log.1"))
        os.close(open_private(path, os.O_WRONLY | os.O_CREAT))
    except OSError as error:
        raise JsctlError(
            f"cannot write {path}: {error.strerror}", "choose another folder with --store"
        ) from None
    return path


def read_last_lines(path: Path, count: int) -> list[str]:
    """Return the last `count` lines of a log; an empty list if it does not exist."""
    try:
        with path.open(encoding="utf-8", errors="replace") as log:
            return [line.rstrip() for line in deque(log, maxlen=count)]
    except FileNotFoundError:
        return []


async def follow_log(path: Path, last: int | None = None) -> AsyncIterator[str]:
    """Yield the lines of a log as they are written, without end, and continue with the new log after a
    restart.

    last: how many existing lines to begin with; None for all. A log that does not exist yet is
    awaited.
    """
    while not path.exists():  # noqa: ASYNC110 files send no events
        await asyncio.sleep(0.2)
    log = path.open(encoding="utf-8", errors="replace")
    try:
        if last is not None:
            for line in deque(log, maxlen=last):
                yield line.rstrip()
        while True:
            while line := log.readline():
                yield line.rstrip()
            await asyncio.sleep(0.2)
            if path.exists() and path.stat().st_ino != os.fstat(log.fileno()).st_ino:
                log.close()
                log = path.open(encoding="utf-8", errors="replace")
    finally:
        log.close()


def _is_ours(text: str) -> bool:
    head, _, rest = text.partition("\n")
    return head == _HEAD + _compute_digest(rest)


def _compute_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
