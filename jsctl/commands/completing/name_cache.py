"""The names that completion listed last, in a file for each context.

    $XDG_CACHE_HOME or ~/.cache / jsctl / names / KEY.json   {"stream": ["ORDERS"], "consumer ORDERS": [...]}

A server is asked in the background: completion waits for it a moment, and then uses the names of the file.
"""

import hashlib
import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from jsctl.base.files import CONFIG_SIZE, read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.posix import make_private_folder
from jsctl.base.user_folders import find_cache_folder

if TYPE_CHECKING:
    from jsctl.contexts.settings import Settings

WAIT = 0.15
"""Seconds that completion waits for a server; JSCTL_COMPLETE_WAIT has another number of ms."""

_MANY, _WAIT_FOR_MANY = 1000, 0.04
"""Number of names that were listed last, and the seconds to wait from there on: few will be new."""

_MAX_SECONDS = 10  #: seconds until the background process gives up
_MAX_LISTS = 64  #: lists that a file keeps
_POLL_SECONDS = 0.004  #: seconds between two checks whether it has ended


class NameCache:
    """The names of one context."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, settings: "Settings", environ: Mapping[str, str]) -> "NameCache":
        """Return the cache for the servers of these settings."""
        login = (settings.url, settings.user, settings.token, settings.creds, settings.nkey, settings.jwt)
        place = (*login, settings.nsc, settings.js_domain, settings.js_api_prefix)
        key = hashlib.sha256("\0".join(place).encode(errors="surrogateescape")).hexdigest()[:16]
        return cls(
            find_cache_folder(environ) / "jsctl" / "names" / f"{settings.context or 'server'}-{key}.json"
        )

    def names(self, noun: str, parent: str) -> list[str]:
        """Return the stored names; none from a file that cannot be read."""
        names = self._read().get(f"{noun} {parent}".rstrip())
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []

    def store(self, noun: str, parent: str, names: Sequence[str]) -> None:
        """Replace the names of a list. The oldest lists are dropped. Raises OSError."""
        key = f"{noun} {parent}".rstrip()
        lists = {other: names for other, names in self._read().items() if other != key}
        lists = dict(list(lists.items())[1 - _MAX_LISTS :]) | {key: list(names)}
        text = json.dumps(lists)
        if len(text) < CONFIG_SIZE:
            make_private_folder(self.path.parent)
            write_atomically(self.path, text, durable=False)

    def _read(self) -> dict[str, object]:
        try:
            lists = parse_json(read_text(self.path, "", CONFIG_SIZE, regular=True))
        except Exception:  # a damaged file is replaced
            return {}
        return lists if isinstance(lists, dict) else {}


def parse_wait(environ: Mapping[str, str], known: int = 0) -> float:
    """Return the number of seconds that completion waits. known: names of the completion before."""
    text = environ.get("JSCTL_COMPLETE_WAIT", "")
    if text.isdecimal() and len(text) < 7:
        return int(text) / 1000
    return _WAIT_FOR_MANY if known >= _MANY else WAIT


def refresh_in_background(fetch: Callable[[], object], wait: float) -> None:
    """Call a function in a process of its own, which outlives this one, and wait for it at most `wait`
    seconds. If processes cannot do that (Windows), call it in this one.
    """
    if not hasattr(os, "fork"):
        fetch()
        return
    end = time.monotonic() + wait
    pid = os.fork()
    if not pid:
        _run_in_child(fetch)
    while time.monotonic() < end:
        with suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0]:
                return
        time.sleep(_POLL_SECONDS)


def _run_in_child(fetch: Callable[[], object]) -> NoReturn:
    try:
        os.setsid()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_MAX_SECONDS)
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):  # the shell waits until nobody holds its pipe any more
            os.dup2(null, number)
        fetch()
    finally:
        os._exit(0)
