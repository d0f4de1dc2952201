"""Exports and imports that a command line names, or that the user picks."""

from collections.abc import Sequence

from jsctl.auth.claims import find_local_subject
from jsctl.auth.records import Json, Record
from jsctl.auth.sharing import find_export, find_import, list_exports, list_imports
from jsctl.base.command_lines import build_line
from jsctl.commands.picking.auth import pick_text
from jsctl.env import Env
from jsctl.errors import NotFound


async def pick_export(env: Env, account: Record, subject: str) -> Json:
    """Return the export of a subject, or one that the user picks. Raises NotFound, BadInput."""
    subjects = [str(export["subject"]) for export in list_exports(account.nats)]
    subject = subject or await _pick(env, account, subjects, "export")
    return find_export(account.nats, subject, account.name)


async def pick_import(env: Env, account: Record, subject: str) -> Json:
    """Return the import at a local subject, or one that the user picks. Raises NotFound, BadInput."""
    subjects = [find_local_subject(claim) for claim in list_imports(account.nats)]
    subject = subject or await _pick(env, account, subjects, "import")
    return find_import(account.nats, subject, account.name)


async def _pick(env: Env, account: Record, subjects: Sequence[str], noun: str) -> str:
    if not subjects:
        raise NotFound(
            f"account {account.name} has no {noun}s", f"{build_line('auth account')} {noun}s add adds one"
        )
    return await pick_text(env, subjects, noun, noun.capitalize(), "SUBJECT")
