"""How far the tasks of this machine have read: a number for each of them in one small file.

Spark tells the driver about a task only when it ends.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBER = struct.Struct("<q")


class ReadCounter:
    """A count of the sequences that tasks have passed. path: of its file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.reset()

    def reset(self) -> None:
        """Begin again, for the next job."""
        self._path.write_bytes(b"")

    def read(self) -> int:
        """Return how many sequences were passed since the last reset."""
        content = self._path.read_bytes()
        return sum(number for (number,) in _NUMBER.iter_unpack(content[: len(content) // 8 * 8]))

    def follow(
        self, task: int, start: int, batches: "Iterator[pa.RecordBatch]"
    ) -> "Iterator[pa.RecordBatch]":
        """Yield the batches of a task, and count them. task: its number. start: its first sequence."""
        with self._path.open("r+b", buffering=0) as file:
            for batch in batches:
                if len(batch):
                    file.seek(task * _NUMBER.size)
                    file.write(_NUMBER.pack(batch["sequence"][-1].as_py() - start + 1))
                yield batch
