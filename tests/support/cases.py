"""Cases of which a sample runs every time."""

from collections.abc import Iterable
from typing import Any

import pytest


def sample(cases: Iterable[Any], every: int) -> list[Any]:
    """Return the cases of a parametrized test: the first, and every so many after it, run every time, the
    others with `--long`."""
    return [
        case
        if number % every == 0
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
        for number, case in enumerate(cases)
    ]
