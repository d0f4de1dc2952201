"""Programs that stand for this process while it waits for them."""

import contextlib
import signal
import subprocess
import threading

_FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_OF_TERMINAL = ("SIGINT", "SIGQUIT")  #: which reach the program by themselves


def wait_for_child(child: "subprocess.Popen[bytes]") -> int:
    """Wait for a program, and forward signals to it. Returns its status, negative for a signal."""

    def forward(number: int, frame: object) -> None:
        if signal.Signals(number).name in _FORWARDED:
            child.send_signal(number)

    numbers = [getattr(signal, name) for name in (*_FORWARDED, *_OF_TERMINAL) if hasattr(signal, name)]
    with contextlib.ExitStack() as stack:
        for number in numbers if threading.current_thread() is threading.main_thread() else ():
            if (previous := signal.getsignal(number)) not in (signal.SIG_IGN, None):
                stack.callback(signal.signal, number, previous)
                signal.signal(number, forward)
        return child.wait()
