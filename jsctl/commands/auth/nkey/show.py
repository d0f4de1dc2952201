"""`jsctl auth nkey show`."""

from jsctl.auth.keys import find_key_kind
from jsctl.commands.auth.nkey.files import read_public_key
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.views.result import Result, Text


@command("show", examples=["jsctl auth nkey show backup.nk"])
@argument("key_file", metavar="KEY")
def show(env: Env, key_file: str) -> Result:
    """Read the seed from the file KEY, which may also be a credentials file."""
    public = read_public_key(key_file)
    return Result([Text(public, whole=True)], data={"kind": find_key_kind(public), "public": public})
