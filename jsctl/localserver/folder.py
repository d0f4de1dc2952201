"""The folder of a network: its lock, its configurations, its logs.

nats-server does not lock its store: a second server on the same folder starts and overwrites the files of
the first (seen with 2.15.1). So jsctl locks the folder.
"""

import asyncio
import fcntl
import hashlib
import json
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from jsctl.errors import JsctlError
from jsctl.files import write_atomically
from jsctl.localserver.topology import Topology, fill

LOCK = "jsctl.lock"

_HEAD = "# Written by jsctl, and written again unless edited: "


def default(environ: Mapping[str, str], name: str) -> Path:
    """Return the default folder for the data of a network: $XDG_DATA_HOME/jsctl/NAME."""
    data = environ.get("XDG_DATA_HOME")
    home = environ.get("HOME")
    base = Path(data) if data else (Path(home) if home else Path.home()) / ".local" / "share"
    return base / "jsctl" / name


def lock(folder: Path) -> int:
    """Create a folder and lock it. Returns the descriptor that holds the lock. Raises JsctlError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise JsctlError(
            f"cannot write to {folder}: {error.strerror}", "choose another folder with --store"
        ) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        owner = pid(folder)
        raise JsctlError(
            f"{folder} is in use by a local server{f' (process {owner})' if owner else ''}",
            f"stop it with jsctl server stop {folder}, or choose another folder with --store or --name",
        ) from None
    return handle


def write_pid(handle: int, number: int) -> None:
    """Write the number of the process that guards the servers into the lock file."""
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps({"pid": number}).encode(), 0)


def in_use(folder: Path) -> bool:
    """Whether a network runs in a folder."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def pid(folder: Path) -> int:
    """Return the number of the process that guards the servers of a folder, or 0."""
    try:
        return int(json.loads((folder / LOCK).read_text())["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def write_configs(folder: Path, topology: Topology, ports: Mapping[str, int]) -> list[str]:
    """Write the configurations of a topology, except those that somebody edited. Returns the names of these.

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
                write_atomically(path, f"{_HEAD}{_digest(text)}\n{text}", mode=None)
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
        path.touch()
    except OSError as error:
        raise JsctlError(
            f"cannot write {path}: {error.strerror}", "choose another folder with --store"
        ) from None
    return path


async def follow_log(path: Path) -> AsyncIterator[str]:
    """Yield the lines of a log as they are written, without end."""
    with path.open(encoding="utf-8", errors="replace") as log:
        while True:
            while line := log.readline():
                yield line.rstrip()
            await asyncio.sleep(0.2)


def _is_ours(text: str) -> bool:
    head, _, rest = text.partition("\n")
    return head == _HEAD + _digest(rest)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
