"""Files of declared streams, and what comes of them."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.run import Cli, Outcome

LATE_REFUSAL = "placement: {preferred: p}"
"""Part of a stream that only the server refuses, when it is created, as placement is not tried before."""

LATE_REASON = "preferred server not permitted in placement (10052)"

DAY = 86_400_000_000_000
"""In ns."""


class Files:
    """Files of declared streams, applied from texts."""

    def __init__(self, cli: Cli, folder: Path) -> None:
        self.cli = cli
        self.path = folder / "streams.yaml"

    def __call__(self, verb: str, text: str, more: str = "", **how: Any) -> Outcome:
        self.path.write_text(text)
        return self.cli(f"{verb} -f {self.path} {more}", **how)


class Meanwhile:
    """An answer of yes; while the question stands, somebody else acts."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self._act = act

    def __bool__(self) -> bool:
        other = threading.Thread(target=self._act)  # this one has an event loop, which waits
        other.start()
        other.join()
        return True


def config(cli: Cli, stream: str, consumer: str = "") -> dict[str, Any]:
    """Return what the server has of a stream, or of a consumer of it."""
    noun = "consumer" if consumer else "stream"
    return dict(cli(f"{noun} info {stream} {consumer} --json", status=0).json["config"])


BUCKETS = """
label: config
buckets:
  - {name: CONFIG, history: 5, ttl: 30d, max_value_size: 1KiB, description: settings}
  - name: COPY
    sources: [CONFIG]
  - for: {i: 1..2}
    name: MIRROR_{{i}}
    mirror: CONFIG
streams:
  - {name: ORDERS, subjects: [orders]}
"""
