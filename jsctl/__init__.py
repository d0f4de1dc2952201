"""jsctl: a terminal tool for NATS JetStream, and `jsctl.run` for Python programs.

What is stable of it is in the manual's page `python`.
"""

__version__ = "0.1.0"
__all__ = ["CommandError", "__version__", "run", "run_async"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from typing import Any

    from jsctl.errors import CommandError

    Word = str | int | float | PathLike[str]


def run(
    line: "str | Sequence[Word]",
    *,
    json: bool = True,
    stdin: str | bytes = "",
    environ: "Mapping[str, str] | None" = None,
    timeout: float | None = None,
) -> "Any":
    """Run a command line of jsctl in this process, and return its answer.

        for name in jsctl.run("stream ls --context hub"): ...

    It may be called in several threads at the same time, and within a running event loop, which it blocks:
    use `run_async` there.

    Args:
        line: as in a shell, without `jsctl`; or its words, which need no quotes; also
            numbers and paths.
        json: whether to return what `--json` writes, parsed: a document, or a list for what writes events;
            otherwise the text that the line writes into a pipe.
        stdin: what the line reads, text or bytes.
        environ: its environment; None for a copy of the process's. It is never changed.
        timeout: seconds until the line is ended; None for no limit.

    Raises CommandError unless the line ends with status 0.
    """
    return _make_call(line, json, stdin, environ, timeout).run()


async def run_async(
    line: "str | Sequence[Word]",
    *,
    json: bool = True,
    stdin: str | bytes = "",
    environ: "Mapping[str, str] | None" = None,
    timeout: float | None = None,
) -> "Any":
    """Run a command line as `run` does, without blocking the event loop; cancelling this ends the line.
    timeout: seconds."""
    return await _make_call(line, json, stdin, environ, timeout).run_async()


def _make_call(*arguments: object) -> "Any":
    import importlib  # by name, as all of the package imports this module for its version

    call = importlib.import_module("jsctl.calls").Call
    return call(importlib.import_module("jsctl.app").run, *arguments)


def __getattr__(name: str) -> "Any":
    """Return CommandError, whose module the command imports later."""
    if name != "CommandError":
        raise AttributeError(f"module 'jsctl' has no attribute {name!r}")
    from jsctl.errors import CommandError

    return CommandError
