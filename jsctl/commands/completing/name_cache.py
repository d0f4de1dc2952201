"""The names that completion listed last, in a file for each context.

    $XDG_CACHE_HOME or ~/.cache / jsctl / names / KEY.json
        {"stream": {"at": 1764000000, "names": ["ORDERS"]}, "consumer ORDERS": {...}}

Completion asks the server each time, and uses the names of the file if there is no answer in time.
"""

import _thread
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from jsctl.base.files import CONFIG_SIZE, read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.posix import make_private_folder
from jsctl.base.user_folders import find_cache_folder

if TYPE_CHECKING:
    from jsctl.contexts.settings import Settings

T = TypeVar("T")

WAIT = 0.15
"""Seconds that completion waits for a server; JSCTL_COMPLETE_WAIT has another number of ms."""

WAIT_FOR_FIRST = 1.0  #: seconds that it waits if the file has no names, or old ones
_YOUNG = 60  #: seconds for which names are not old

_MAX_LISTS = 64  #: lists that a file keeps


class StoredNames(NamedTuple):
    """Names of the file. at: when they were listed, in seconds since the epoch."""

    names: Sequence[str] = ()
    at: float = 0

    def is_young(self, now: float) -> bool:
        """Return whether they were listed within the last minute. now: as `at`."""
        return 0 <= now - self.at < _YOUNG


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

    def find(self, noun: str, parent: str) -> "StoredNames":
        """Return a stored list; an old one without names from a file that cannot be read."""
        found = self._read().get(_build_key(noun, parent))
        at, names = (found.get("at"), found.get("names")) if isinstance(found, dict) else (None, None)
        if not isinstance(names, list) or not isinstance(at, int):
            return StoredNames()
        return StoredNames([name for name in names if isinstance(name, str)], at)

    def store(self, noun: str, parent: str, names: Sequence[str], at: float) -> None:
        """Replace the names of a list. The oldest lists are dropped. at: now, in seconds since the epoch.
        Raises OSError.
        """
        key = _build_key(noun, parent)
        lists = {other: found for other, found in self._read().items() if other != key}
        lists = dict(list(lists.items())[1 - _MAX_LISTS :]) | {key: {"at": int(at), "names": list(names)}}
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


def _build_key(noun: str, parent: str) -> str:
    return f"{noun} {parent}".rstrip()


def find_wait(environ: Mapping[str, str], is_young: bool) -> float:
    """Return the number of seconds that completion waits. is_young: whether the file has young names."""
    text = environ.get("JSCTL_COMPLETE_WAIT", "")
    if text.isdecimal() and len(text) < 7:
        return int(text) / 1000
    return WAIT if is_young else WAIT_FOR_FIRST


def call_within(seconds: float, function: Callable[[], T]) -> T:
    """Call a function, and raise TimeoutError if it takes longer.

    It runs in a thread, which ends with this process: what looks up an address cannot be interrupted.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    running = _thread.allocate_lock()

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)
        finally:
            running.release()

    running.acquire()
    _thread.start_new_thread(run, ())
    if not running.acquire(timeout=seconds):
        raise TimeoutError
    if errors:
        raise errors[0]
    return results[0]
