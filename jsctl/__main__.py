"""The `jsctl` script, and `python -m jsctl`.

From the first line here until a verb begins, ctrl-C ends the process silently with status 130: Python would
print a traceback of imports, or lose the signal in one of them. While Python itself starts, it may be lost.
SIGTERM ends it with status 143, as what handles SIGTERM does.
"""

import _signal  # type: ignore[import-not-found]  # not signal and typing, whose imports take longer
import os


def _end_silently(number: int, frame: object) -> None:
    os._exit(128 + number)


_by_python = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _by_python:
    _signal.signal(_signal.SIGINT, _end_silently)
if _signal.getsignal(_signal.SIGTERM) == _signal.SIG_DFL:
    _signal.signal(_signal.SIGTERM, _end_silently)

import gc  # noqa: E402
import sys  # noqa: E402

# Frequent garbage collection takes 4 ms of every start, and an eighth of all time with 10,000 streams.
gc.set_threshold(50_000)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run jsctl: in the agent that JSCTL_AGENT names, if it takes the call; otherwise here, in Python's UTF-8
    mode if the locale has another encoding (see `start_in_utf8_mode`)."""
    if sys.getfilesystemencoding() != "utf-8":
        from jsctl.base.standard_streams import start_in_utf8_mode

        start_in_utf8_mode()
    elif "JSCTL_AGENT" in os.environ and sys.argv[1:2] != ["agent"]:
        from jsctl import __version__
        from jsctl.agent.client import call

        call(os.environ["JSCTL_AGENT"], __version__)
    from jsctl.base.ending import prepare

    prepare()
    run()


def run() -> "NoReturn":
    """Import jsctl and run it in this process."""

    def begin() -> None:
        if _by_python and _signal.getsignal(_signal.SIGINT) is _end_silently:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    from jsctl import app

    app.main(begin)


if __name__ == "__main__":
    main()
