"""Prompts that leave the terminal as it was when a signal ends jsctl."""

import contextlib
from collections.abc import Iterator
from typing import Any

from prompt_toolkit import Application

from jsctl.base.signals import restoring_first


@contextlib.contextmanager
def restoring_terminal(application: "Application[Any]") -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the prompt that runs in the block, and jsctl only after it."""

    def end() -> None:
        if application.is_running and not application.is_done:
            application.exit(exception=EOFError())

    with restoring_first(end):
        yield
