"""Which worker runs which file."""

from collections.abc import Callable

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

SPARKS = 2
"""How many workers start a Spark of their own."""


class Scheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """A file at a time, in the order in which they were collected. Files that share a worker's Spark go to
    two workers, as long as there are others for the rest: each Spark takes half a minute of processor time
    before it is quick."""

    def __init__(self, config: pytest.Config, log: Producer, is_with_spark: Callable[[str], bool]) -> None:
        super().__init__(config, log)
        self._is_with_spark = is_with_spark

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        has_spark = node in self.nodes[:SPARKS]
        suitable = (file for file in self.workqueue if self._is_with_spark(file) == has_spark)
        if file := next(suitable, ""):
            self.workqueue.move_to_end(file, last=False)
        super().mark_test_complete(node, item_index, duration)
