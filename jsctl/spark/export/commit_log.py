"""The log of an export in one of Hadoop's file systems: which files of its tables count.

Object stores have no rename, so Spark writes files where they stay. A file counts when the newest object in
`_commits` names the write that made it; the UUID of a write is part of the names of its files. What a
killed run wrote is named by none, and the next run removes it. Versions are only ever created, never
overwritten: each run begins with a version of its own, and a run that was thought dead cannot create the
next one any more.
"""

import contextlib
import json
import os
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsctl.base.files import is_alive
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.shape_check import Malformed, Shape, check
from jsctl.spark.session.hadoop import HadoopPath, StoredFile

COMMITS = "_commits"
LEASE = "_lease.json"
_DIGITS = 20
_WRITE = re.compile(r"part-\d+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[-.]")
"""The name of a file that Spark wrote, with the write's UUID (HadoopMapReduceCommitProtocol.getFilename)."""

RENEWAL = 5.0  #: seconds between two renewals of a lease
_DEAD_AFTER = 13.0  #: seconds without a renewal after which its holder is taken for dead

_POLL = 0.5  #: seconds between two looks at another run's lease


@dataclass(slots=True)
class TableState:
    """What is committed of a table.

    writes: UUIDs of the writes whose files count. replaced: partition (`date=2026-11-21`) -> the only write
    that counts there. checkpoint: what the table holds, empty if that is not recorded.
    """

    writes: list[str] = field(default_factory=list)
    replaced: dict[str, str] = field(default_factory=dict)
    checkpoint: dict[str, Any] = field(default_factory=dict)

    def counts(self, file: StoredFile, folder: HadoopPath) -> bool:
        """Return whether a file of the table counts. Files that Spark did not write are not jsctl's, and
        do."""
        write = parse_write(file)
        if not write:
            return True
        partition = str(file.path.relative_to(folder).parent)
        return write in self.writes and self.replaced.get(partition, write) == write


def parse_write(file: StoredFile) -> str:
    """Return the UUID of the write that made a file; empty for files that Spark did not write."""
    match = _WRITE.match(file.path.name)
    return match[1] if match else ""


@dataclass(slots=True)
class State:
    """A version of an export. kind, format: as in the description of an export on a disk."""

    kind: str
    format: str
    tables: dict[str, TableState] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the text of the version's object."""
        tables = {
            name: {"writes": table.writes, "replaced": table.replaced, "checkpoint": table.checkpoint}
            for name, table in self.tables.items()
        }
        return json.dumps({"kind": self.kind, "format": self.format, "tables": tables}) + "\n"


_SHAPE = Shape({"kind": str, "format": str, "tables": Shape({})}, ("kind", "format", "tables"))
_TABLE = Shape(
    {"writes": [str], "replaced": Shape({}), "checkpoint": Shape({})}, ("writes", "replaced", "checkpoint")
)


StateReader = Callable[[HadoopPath], State | None]
"""How functions read a version: `read_state`, or `functools.cache(read_state)` for one version in several."""


def read_state(root: HadoopPath) -> State | None:
    """Return the newest version of the export at `root`, None when there is none. Raises JsctlError."""
    for _ in range(5):
        versions = list_versions(root)
        for version in reversed(versions):
            text = _name(root, version).read_text()
            if text is None:
                break  # removed since it was listed: there are newer ones
            with contextlib.suppress(ValueError):  # begun by a run that was killed
                return _parse(parse_json(text), root)
        else:
            return None
    raise JsctlError(f"{root / COMMITS} changes too fast to be read", "try again")


def _parse(content: Any, root: HadoopPath) -> State:
    try:
        check(content, _SHAPE)
        for name, table in content["tables"].items():
            check(table, _TABLE)
            if not re.fullmatch(r"[\w-]+", name):
                raise Malformed(f"names {name!r}, which is not a table")
    except Malformed as fault:
        raise JsctlError(f"{root / COMMITS} does not describe an export: {fault}") from None
    tables = {
        name: TableState(table["writes"], table["replaced"], table["checkpoint"])
        for name, table in content["tables"].items()
    }
    return State(content["kind"], content["format"], tables)


def list_versions(root: HadoopPath) -> list[int]:
    """Return the numbers of the versions of an export that are there, the newest last."""
    names = [file.name for file in (root / COMMITS).iterdir()]
    return sorted(int(name.removesuffix(".json")) for name in names if re.fullmatch(r"\d+\.json", name))


def _name(root: HadoopPath, version: int) -> HadoopPath:
    return root / COMMITS / f"{version:0{_DIGITS}}.json"


@dataclass(slots=True)
class CommitLog:
    """The log that a run writes, which holds the lease."""

    root: HadoopPath
    version: int = 0

    def begin(self, state: State) -> None:
        """Write a version with the same content, so that no run that began earlier can write another one."""
        self.version = max(list_versions(self.root), default=0)
        self.commit(state)

    def commit(self, state: State) -> None:
        """Write the next version. Raises JsctlError when another run took over: nothing was committed."""
        is_created = _name(self.root, self.version + 1).create_text(state.to_json())
        self.version += is_created
        if not is_created or not self.is_newest():
            raise JsctlError(
                f"another export took {self.root} over, and this one wrote nothing", "run it again"
            )
        for old in list_versions(self.root)[:-2]:
            _name(self.root, old).unlink()

    def is_newest(self) -> bool:
        """Return whether no other run has begun since this one."""
        return list_versions(self.root)[-1:] == [self.version]

    def remove(self) -> None:
        """Remove the log of an export that has no tables."""
        (self.root / COMMITS).rmtree()


@contextlib.contextmanager
def lease(root: HadoopPath, *, wait: float = 0) -> Iterator[None]:
    """Hold the export at `root`, which one run at a time can do. A lease ends with its run; that of a
    killed run is free at once on the same machine, elsewhere when it was not renewed for some seconds.

    wait: seconds to wait for another run's end. Raises BadInput when another run has it.
    """
    file = root / LEASE
    identity = {"machine": _identify_machine(), "pid": os.getpid(), "id": secrets.token_hex(8)}
    deadline = time.monotonic() + wait
    while _is_held(file):
        if time.monotonic() >= deadline:
            raise BadInput(f"another export writes to {root}", "wait until it has ended")
        time.sleep(_POLL)
    _renew(file, identity, 0)
    if not _is_ours(file, identity):
        raise BadInput(f"another export writes to {root}", "wait until it has ended")
    ended = threading.Event()

    def keep() -> None:
        number = 0
        while not ended.wait(RENEWAL):
            with contextlib.suppress(Exception):  # the store may be away for a while, the JVM gone
                if not _is_ours(file, identity):
                    return  # this run was thought dead; its next commit fails
                number += 1
                _renew(file, identity, number)

    keeper = threading.Thread(target=keep, daemon=True)
    keeper.start()
    try:
        yield
    finally:
        ended.set()
        keeper.join()
        with contextlib.suppress(JsctlError):
            if _is_ours(file, identity):
                file.unlink()


def _renew(file: HadoopPath, identity: dict[str, Any], number: int) -> None:
    file.write_text(json.dumps({**identity, "renewed": number}) + "\n")


def _parse_holder(text: str | None) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        content = parse_json(text or "{}")
        if isinstance(content, dict):
            return content
    return {}


def _is_ours(file: HadoopPath, identity: dict[str, Any]) -> bool:
    return bool(_parse_holder(file.read_text()).get("id") == identity["id"])


def _is_held(file: HadoopPath) -> bool:
    """Return whether a run holds a lease, which may take as long as it may leave it unrenewed. A lease that
    is just being renewed may be empty: HDFS shows a file before its content."""
    first = file.read_text()
    holder = _parse_holder(first)
    if first is None or (
        holder.get("machine") == _identify_machine()
        and isinstance(holder.get("pid"), int)
        and not is_alive(holder["pid"])
    ):
        return False
    deadline = time.monotonic() + _DEAD_AFTER
    while time.monotonic() < deadline:
        time.sleep(_POLL)
        now = file.read_text()
        if now != first:
            return now is not None
    return False


def _identify_machine() -> str:
    """Return a name of this machine since it was started."""
    boot = ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{socket.gethostname()} {boot}".strip()
