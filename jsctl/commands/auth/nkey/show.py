"""`jsctl auth nkey show`."""

from jsctl.auth.keys import is_seed, key_of_seed, kind_of_key
from jsctl.commands.auth.nkey.files import read_key_text
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.views.result import Result, Text


@command("show", examples=["jsctl auth nkey show backup.nk"])
@argument("key_file", metavar="KEY")
def show(env: Env, key_file: str) -> Result:
    """Read the seed from the file KEY, which may also be a credentials file."""
    text = read_key_text(key_file)
    public = key_of_seed(text).public if is_seed(text) else text
    return Result([Text(public, whole=True)], data={"kind": kind_of_key(public), "public": public})
