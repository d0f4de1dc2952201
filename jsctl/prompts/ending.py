"""The end of a prompt: by a signal, or with ctrl-C that is typed right after an answer."""

import contextlib
from collections.abc import Iterator
from typing import Any

from prompt_toolkit import Application
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.keys import Keys

from jsctl.base.signals import TERMINATION, handle_signals


@contextlib.contextmanager
def restoring_terminal(application: "Application[Any]") -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the prompt that runs in the block, and jsctl only after it, when the
    terminal is as it was.
    """

    def end() -> None:
        if application.is_running and not application.is_done:
            application.exit(exception=EOFError())

    with handle_signals(end, TERMINATION, resend=True):
        yield


def raise_typed_interrupt(input: Input) -> None:
    """Raise KeyboardInterrupt when ctrl-C was typed between the answer and the end of the prompt.

    prompt_toolkit would keep it for the next prompt, or leave it in the terminal. Other keys stay for the
    next prompt.
    """
    keys = get_typeahead(input)
    with contextlib.suppress(OSError):  # the terminal is gone
        keys += input.read_keys()
    interrupts = [number for number, press in enumerate(keys) if press.key == Keys.ControlC]
    store_typeahead(input, keys[interrupts[-1] + 1 if interrupts else 0 :])
    if interrupts:
        raise KeyboardInterrupt
