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
        self._with_spark: list[WorkerController] = []

    def _assign_work_unit(self, node: WorkerController) -> None:
        first = next(iter(self.workqueue))
        if self._is_with_spark(first) and node not in self._with_spark:
            if len(self._with_spark) < SPARKS:
                self._with_spark.append(node)
            else:
                others = (file for file in self.workqueue if not self._is_with_spark(file))
                self.workqueue.move_to_end(next(others, first), last=False)
        super()._assign_work_unit(node)
