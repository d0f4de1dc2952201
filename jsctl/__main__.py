"""The `jsctl` script, and `python -m jsctl`."""

import _signal  # type: ignore[import-not-found]  # not signal and typing, whose imports ctrl-C would end with a traceback
import gc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Import jsctl and run it. Until a verb begins, ctrl-C ends the process silently: Python would print a
    traceback of its imports, or lose it in one of them."""
    by_python = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
    if by_python:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

    def begin() -> None:
        if by_python and _signal.getsignal(_signal.SIGINT) is _signal.SIG_DFL:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    # Frequent garbage collection takes 4 ms of every start, and an eighth of the time with 10,000 streams.
    gc.set_threshold(50_000)
    from jsctl import app

    app.main(begin)


if __name__ == "__main__":
    main()
