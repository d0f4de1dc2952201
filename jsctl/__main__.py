"""The `jsctl` script, and `python -m jsctl`."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """Import jsctl and run it. Until it is imported, ctrl-C ends the process silently: Python would print a
    traceback of its imports."""
    by_python = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if by_python:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from jsctl import app

    if by_python:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app.main()


if __name__ == "__main__":
    main()
