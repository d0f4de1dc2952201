"""Mappings that a command line names, or that the user picks."""

from jsctl.auth.mappings import list_mappings
from jsctl.auth.records import Record
from jsctl.base.command_lines import build_line
from jsctl.commands.picking.auth import pick_text
from jsctl.env import Env
from jsctl.errors import NotFound


async def pick_source(env: Env, account: Record, source: str) -> str:
    """Return the source subject on the command line, or one that the user picks. Raises NotFound,
    BadInput.
    """
    if source:
        return source
    sources = list(list_mappings(account.nats))
    if not sources:
        raise NotFound(
            f"account {account.name} has no mappings", f"{build_line('auth account mappings add')} adds one"
        )
    return await pick_text(env, sources, "mapping", "Mapping", "SOURCE")
