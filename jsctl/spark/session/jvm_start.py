"""The start of Spark's JVM, which ctrl-C ends at any moment.

PySpark returns the process only when the JVM answers, which takes seconds.
"""

import contextlib
import subprocess
from collections.abc import Iterator
from typing import Any

_starting: list[subprocess.Popen[bytes]] = []


class _Process(subprocess.Popen[bytes]):
    def __init__(self, *args: Any, **options: Any) -> None:
        _starting.append(self)  # first: ctrl-C may come after the fork, before the program runs
        super().__init__(*args, **options)


@contextlib.contextmanager
def allow_abort() -> Iterator[None]:
    """Let `abort` end the JVM that PySpark starts in the block. A block that fails ends it, too."""
    from pyspark import java_gateway

    names = vars(java_gateway)
    popen = names["Popen"]
    names["Popen"] = _Process
    try:
        yield
    except BaseException:
        abort()
        for process in _starting:
            if getattr(process, "pid", None):
                process.wait()
        raise
    finally:
        names["Popen"] = popen
        _starting.clear()


def abort() -> None:
    """Abort the start of the JVM, if it is starting, from any thread: PySpark then fails at once."""
    for process in list(_starting):
        if getattr(process, "pid", None):
            process.kill()
