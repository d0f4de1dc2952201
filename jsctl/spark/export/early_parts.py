"""Writing the first parts of a table in this process while Spark starts.

Spark takes some seconds to start, and meanwhile needs little more than one core. Once it is running, its
tasks write the remaining parts, unless there are only a few: starting the Python of the first task takes as
long again.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jsctl.errors import Cancelled
from jsctl.spark.export.parts import Part, PartFiles

if TYPE_CHECKING:
    import pyarrow as pa

    from jsctl.spark.source.batch_reader import JetStreamReader, RangePartition

FEW = 5
"""Parts that this process writes alone sooner than two tasks, with their start."""

_ABANDON_TIMEOUT = 1  #: seconds for the thread to notice that its parts are not wanted


class EarlyParts:
    """Parts of a table, from the first one on, that a thread of this process reads and writes.

    reader: of all parts. folder: for the files, which does not exist yet. is_stopped: returns whether the
    parts are no longer wanted.
    """

    def __init__(self, reader: "JetStreamReader", folder: Path, is_stopped: Callable[[], bool]) -> None:
        self.reader = reader
        self._folder = folder
        self._is_stopped = is_stopped
        self._partitions: Sequence[RangePartition] = ()
        self._parts: list[Part] = []
        self._begun = self._count = 0  #: parts that this thread has begun, and shall write
        self._error: BaseException | None = None
        self._is_planned = threading.Event()
        self._is_abandoned = False
        self._lock = threading.Lock()  #: of _begun and _count
        self._thread = threading.Thread(target=self._run, name="early parts", daemon=True)
        self._thread.start()

    @property
    def done(self) -> float:
        """The share of all parts that is written, from 0 to 1."""
        return len(self._parts) / max(1, len(self._partitions))

    def hand_over(self) -> "tuple[Sequence[RangePartition], int]":
        """Return all partitions, and how many of them are this thread's, if it has not begun the last one.

        Raises what planning, reading and writing raised until now.
        """
        self._is_planned.wait()
        with self._lock:
            if self._begun + FEW < self._count:
                self._count = self._begun
        if self._error:
            raise self._error
        return self._partitions, self._count

    def finish(self) -> Sequence[Part]:
        """Wait for the parts of this thread, and return them. Raises what reading and writing raised, and
        Cancelled."""
        while self._thread.is_alive():
            self._check()  # a thread that waits for a server does not
            self._thread.join(0.2)
        if self._error:
            raise self._error
        return self._parts

    def abandon(self) -> None:
        """End the thread, if it still runs, as soon as it has read a message."""
        self._is_abandoned = True
        self._thread.join(_ABANDON_TIMEOUT)

    def _run(self) -> None:
        try:
            self._partitions = self.reader.partitions()
            self._count = len(self._partitions)
            self._folder.mkdir(parents=True)
            self._is_planned.set()
            files = PartFiles.of(self.reader.options, self._folder)
            while (number := self._begin_next()) is not None:
                self._parts.append(files.write(number, self._read(self._partitions[number])))
        except BaseException as error:  # for the thread that asks for the parts
            self._error = error
        finally:
            self._is_planned.set()

    def _begin_next(self) -> int | None:
        with self._lock:
            if self._is_abandoned or self._begun == self._count:
                return None
            self._begun += 1
            return self._begun - 1

    def _read(self, partition: "RangePartition") -> "Iterator[pa.RecordBatch]":
        for batch in self.reader.read(partition):
            self._check()
            yield batch

    def _check(self) -> None:
        if self._is_abandoned or self._is_stopped():
            raise Cancelled("interrupted")
