"""`jsctl errors lookup`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.errors.complete import complete_codes
from jsctl.env import Env
from jsctl.jetstream import error_catalog
from jsctl.jetstream.error_hints import find_hint
from jsctl.views.errors import codes as view
from jsctl.views.result import Result


@command("lookup", examples=["jsctl errors lookup 10059"])
@argument("code", type=int, shell_complete=complete_codes)
def lookup(env: Env, code: int) -> Result:
    entry = error_catalog.find_error(error_catalog.load(env.flags.get("errors_file", "")), code)
    return view.details(entry, find_hint(code))
