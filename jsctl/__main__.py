"""The `jsctl` script, and `python -m jsctl`.

From the first line here until a verb begins, ctrl-C ends the process silently: Python would print a traceback
of imports, or lose the signal in one of them. While Python itself starts, it may be lost.
"""

import _signal  # type: ignore[import-not-found]  # not signal and typing, whose imports take longer

_by_python = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _by_python:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import gc  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Import jsctl and run it."""

    def begin() -> None:
        if _by_python and _signal.getsignal(_signal.SIGINT) is _signal.SIG_DFL:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    # Frequent garbage collection takes 4 ms of every start, and an eighth of all time with 10,000 streams.
    gc.set_threshold(50_000)
    from jsctl.lean_click import import_click

    import_click()
    from jsctl import app

    app.main(begin)


if __name__ == "__main__":
    main()
