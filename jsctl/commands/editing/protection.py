"""The flag that names protected streams, for verbs that remove or purge."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from jsctl.commands.cli import option

F = TypeVar("F", bound=Callable[..., Any])


def unprotect_flag(function: F) -> F:
    """Add --unprotect; the function gets its values as `unprotect`."""
    return option(
        "--unprotect",
        multiple=True,
        metavar="NAME",
        help="Change this stream or bucket although it is protected; may be repeated",
    )(function)


def list_streams(names: Iterable[str]) -> frozenset[str]:
    """Return the names of the streams that names of streams or buckets may stand for."""
    return frozenset(stream for name in names for stream in (name, f"KV_{name}", f"OBJ_{name}"))
