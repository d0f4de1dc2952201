"""The flag that names protected streams, for verbs that delete messages."""

from collections.abc import Iterable, Sequence

from jsctl.commands.cli import option
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.origins import list_origins
from jsctl.jetstream.stream import protection
from jsctl.jetstream.stream.protection import list_names_of

unprotect_flag = option(
    "--unprotect",
    multiple=True,
    metavar="NAME",
    help="Change this stream or bucket although it is protected; may be repeated",
)


def list_concerned(config: Json) -> list[str]:
    """Return the name of a new stream, and those of its origins, which may lose messages to it."""
    return [str(config["name"]), *(str(origin["name"]) for origin in list_origins(config))]


def refuse_unknown(unprotected: Iterable[str], streams: Iterable[str]) -> None:
    """Raise BadInput for a name of --unprotect that is none of these streams, nor of their buckets."""
    names = sorted({name for stream in streams if stream for name in list_names_of(stream)})
    for name in unprotected:
        if name not in names:
            raise BadInput(
                f"--unprotect {name} is none of what this is about", f"it may be {' or '.join(names[:3])}"
            )


def refuse_protected(
    infos: Sequence[Json], unprotected: Sequence[str], losing: Sequence[Json] | None = None
) -> None:
    """Raise JsctlError for a protected stream that --unprotect does not name, and BadInput for a name that is
    none of `infos`. losing: the streams that lose messages, if these are not all."""
    refuse_unknown(unprotected, [str(info["config"]["name"]) for info in infos])
    protection.refuse_protected(infos if losing is None else losing, unprotected)
