"""A network's folder: its lock, its configurations, its logs.

nats-server takes no lock on its store: a second one on the same folder starts, reads the same files and
writes over them (tried with 2.15.1). So the folder is locked here.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from jsctl.errors import JsctlError
from jsctl.files import write_atomically
from jsctl.localserver.topology import Topology, fill

LOCK = "jsctl.lock"

_HEAD = "# Written by jsctl, and written again unless edited: "


def default(environ: Mapping[str, str], name: str) -> Path:
    """Where a network keeps its data when the user names no folder: $XDG_DATA_HOME/jsctl/NAME."""
    data = environ.get("XDG_DATA_HOME")
    home = environ.get("HOME")
    base = Path(data) if data else (Path(home) if home else Path.home()) / ".local" / "share"
    return base / "jsctl" / name


def lock(folder: Path) -> int:
    """Make a folder and lock it; returns the descriptor that holds the lock. Raises JsctlError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise JsctlError(
            f"cannot write to {folder}: {error.strerror}", "--store names another folder"
        ) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        who = pid(folder)
        raise JsctlError(
            f"{folder} is in use by a local server{f' (process {who})' if who else ''}",
            f"jsctl server stop {folder} stops it; --store or --name takes another folder",
        ) from None
    return handle


def write_pid(handle: int, number: int) -> None:
    """Note in a locked folder which process guards its servers."""
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
    """The process that guards the servers of a folder in use, or 0."""
    try:
        return int(json.loads((folder / LOCK).read_text())["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def write_configs(folder: Path, topology: Topology, ports: Mapping[str, int]) -> list[str]:
    """Write the configurations of a topology; returns the names of those that somebody edited, which stay.

    Raises JsctlError.
    """
    wanted = {f"{node.name}.conf": node.config for node in topology.nodes if node.file is None}
    edited = []
    try:
        for name, template in {**wanted, **topology.files}.items():
            path = folder / name
            if path.exists() and not _is_ours(path.read_text(encoding="utf-8", errors="replace")):
                edited.append(name)
            else:
                text = fill(template, ports)
                write_atomically(path, f"{_HEAD}{_digest(text)}\n{text}", mode=None)
    except OSError as error:
        raise JsctlError(
            f"cannot write {error.filename}: {error.strerror}", "--store names another folder"
        ) from None
    return edited


def start_log(folder: Path, name: str) -> Path:
    """An empty log for a server; the one of the run before is kept as `<name>.log.1`. Raises JsctlError."""
    path = folder / f"{name}.log"
    try:
        if path.exists():
            path.replace(path.with_name(f"{name}.log.1"))
        path.touch()
    except OSError as error:
        raise JsctlError(f"cannot write {path}: {error.strerror}", "--store names another folder") from None
    return path


def _is_ours(text: str) -> bool:
    head, _, rest = text.partition("\n")
    return head == _HEAD + _digest(rest)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
