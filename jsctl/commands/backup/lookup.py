"""`jsctl backup lookup`."""

from jsctl.commands.backup.paths import resolve_backup_path
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.jetstream.backup.obfuscation import read_key_file
from jsctl.views.result import Lines, Result


@command("lookup", examples=["jsctl backup lookup ORDERS.keys.json 4c1vd0q2ts7a8j3b.0f2k9m5n6p7r8s1t"])
@argument("keyfile", label="Key file", path=True)
@argument("value", nargs=-1, required=True)
def lookup(env: Env, keyfile: str, value: tuple[str, ...]) -> Result:
    """Turn each VALUE, a name or a subject of an obfuscated backup, back to what it stands for, token by
    token. What KEYFILE, which backup edit --obfuscate wrote, does not have stays as it is.
    """
    keys = read_key_file(resolve_backup_path(keyfile))
    revealed = {each: keys.reveal(each) for each in value}
    return Result([Lines(tuple(revealed[each] for each in value), whole=True)], data=revealed)
