"""`jsctl reply` in a process of its own."""

import subprocess
from collections.abc import Callable

Start = Callable[..., "subprocess.Popen[str]"]
"""Starts it with these arguments; it listens when this returns."""
