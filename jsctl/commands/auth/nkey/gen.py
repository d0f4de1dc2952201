"""`jsctl auth nkey gen`."""

from collections.abc import Callable
from pathlib import Path

import click

from jsctl.auth.keys import CURVE, KINDS, create_key
from jsctl.base.files import escape_path, open_pipe, write_atomically
from jsctl.base.user_folders import expand_home
from jsctl.commands.auth.credentials import check_free
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.intent import file_intent
from jsctl.views.result import Result, Text

_X25519 = "x25519"


@command(
    "gen", examples=["jsctl auth nkey gen user --public", "jsctl auth nkey gen curve --output backup.nk"]
)
@argument("type", metavar="TYPE", type=click.Choice([*KINDS, _X25519]))
@option("--public", is_flag=True, help="Show the public key, too")
@option("--entropy", metavar="FILE", default="", help="Take the random bytes from this file or device")
@option("--output", metavar="FILE", default="", help="Write the seed to a file instead of showing it")
@destructive("Overwrite the file")
def gen(env: Env, type: str, public: bool, entropy: str, output: str, force: bool) -> Result:
    """Use user, account, server, cluster, operator, curve or x25519 as TYPE; the last two are the same.

    Without --output, the seed is shown: keep it secret.
    """
    check_free(output, force=force)
    kind = CURVE if type == _X25519 else type
    key = create_key(kind, _make_reader(entropy)) if entropy else create_key(kind)
    if output:
        path = expand_home(output)
        env.announce(file_intent(f"a new seed of kind {kind}", path))
        write_atomically(path, key.seed + "\n" + (key.public + "\n" if public else ""))
        shown = [key.public] if public else []
        data = {"kind": kind, "public": key.public, "output": output}
        return Result([Text("\n".join(shown), whole=True)] if shown else [], data=data)
    lines = [key.seed, *([key.public] if public else [])]
    data = {"kind": kind, "public": key.public, "seed": key.seed}
    return Result([Text("\n".join(lines), whole=True)], data=data)


def _make_reader(file: str) -> Callable[[int], bytes]:
    """Return a function that reads random bytes from a file."""

    def read(size: int) -> bytes:
        with open(expand_home(file), "rb", opener=open_pipe) as source:
            data = source.read(size)
        if len(data) < size:
            raise BadInput(f"{escape_path(Path(file))} has only {len(data)} bytes", f"{size} are needed")
        return data

    return read
