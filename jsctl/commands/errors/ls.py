"""`jsctl errors ls`."""

from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import error_catalog
from jsctl.views.errors import codes as view
from jsctl.views.result import Result


@command("ls", columns=view.COLUMNS, examples=["jsctl errors ls", "jsctl errors ls consumer http --reverse"])
@argument("match", default="")
@argument("sort", default="code")
@option("--reverse/--no-reverse", "-R", default=False, help="Sort in the opposite order")
def ls(env: Env, match: str, sort: str, reverse: bool) -> Result:
    """Show the errors of which a field matches the regular expression MATCH; SORT is code, http or
    description.
    """
    if sort not in error_catalog.SORTS:
        raise BadInput(f"unknown sort order {sort!r}", "use code, http or description")
    entries = error_catalog.load(env.flags.get("errors_file", ""))
    if match:
        entries = error_catalog.find_matching(entries, match)
    return view.listing(sorted(entries, key=error_catalog.SORTS[sort], reverse=reverse))
