"""Recordings made of a real round that is changed, so that no test waits for what takes minutes."""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jsctl.monitor.report.recording import Recording, encode_round

START = 1_800_000_000.0
"""When the first round was, in seconds since 1970."""

Change = Callable[[dict[str, Any]], None]
"""Changes the place of a round."""


def write_rounds(real: Path, file: Path, changes: Sequence[Change | None], *, seconds: float = 1.0) -> Path:
    """Write a round for each change of the first place of a real recording's first round; None is a round in
    which it did not answer."""
    document = Recording(real).load(0)
    with file.open("wb") as out:
        for number, change in enumerate(changes):
            now = copy.deepcopy(document)
            if change is None:
                lost = {"error": "lost the connection", "state": "unreachable"}
                keys = ("context", "domain", "flags")
                now["places"][0] = {**{key: now["places"][0][key] for key in keys}, **lost}
            else:
                change(now["places"][0])
            out.write(encode_round(now, START + number * seconds))
    return file


def with_lag(lag: int) -> Change:
    """Return a round in which its consumers lag."""

    def change(place: dict[str, Any]) -> None:
        for consumer in place["overview"]["consumers"]:
            consumer["num_pending"] = lag

    return change
