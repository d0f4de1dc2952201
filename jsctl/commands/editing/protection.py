"""The flag that names protected streams, for verbs that remove or purge."""

from collections.abc import Iterable

from jsctl.commands.cli import option

unprotect_flag = option(
    "--unprotect",
    multiple=True,
    metavar="NAME",
    help="Change this stream or bucket although it is protected; may be repeated",
)


def list_streams(names: Iterable[str]) -> frozenset[str]:
    """Return the names of the streams that names of streams or buckets may stand for."""
    return frozenset(stream for name in names for stream in (name, f"KV_{name}", f"OBJ_{name}"))
