"""`jsctl schema search`."""

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.schema import catalog
from jsctl.views.result import Result
from jsctl.views.schema import schemas as view


@command("search", examples=["jsctl schema search", "jsctl schema search 'stream.*request'"])
@argument("pattern", default=".")
def search(env: Env, pattern: str) -> Result:
    """Show the names that match PATTERN, a regular expression; upper and lower case are the same."""
    return view.listing(catalog.search(pattern), pattern)
