"""The `jsctl` script, and `python -m jsctl`."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """Import the rest and run it. Until all is there, ctrl-C ends the process without a word: Python would
    tell where it was in its imports."""
    by_python = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if by_python:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from jsctl import app

    if by_python:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app.main()


if __name__ == "__main__":
    main()
