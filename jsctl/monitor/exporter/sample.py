"""A value of a metric."""

from collections.abc import Mapping
from typing import NamedTuple

Labels = Mapping[str, str]


class Sample(NamedTuple):
    """A value of a metric."""

    metric: str
    labels: Labels
    value: float
