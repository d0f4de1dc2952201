"""Long lists, written a page at a time: their memory is that of a page, and the first lines come at once."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.render.emit import json_items
from jsctl.render.text import clean_lines


async def write_pages(env: Env, pages: AsyncIterator[Sequence[Any]]) -> None:
    """Names, one a line; with --json whatever the items are, as one array.

    Raises BadInput where CSV or TSV is asked for, and what `pages` raises: then the array has no end.
    """
    if env.form in ("csv", "tsv"):
        raise BadInput("this command has no table", "use --json")
    out = env.streams.stdout
    first = True
    async for page in pages:
        if not page:
            continue
        out.write(json_items(page, first=first) if env.wants_json else clean_lines("\n".join(page)) + "\n")
        out.flush()  # a reader that has enough (| head) ends it here
        first = False
    if env.wants_json:
        out.write("[]\n" if first else "\n]\n")
