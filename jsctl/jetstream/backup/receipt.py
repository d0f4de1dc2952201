"""Receipts of validated backups: which parts of chains were read, so that they are not read again.

A receipt is a JSON file `{format, parts: {SHA-256 of the manifest: {path, files: {name: [size, time]}}}}`,
with the time of the last change in ns. A part is read again if a file of it was changed since.
"""

import json
from pathlib import Path
from typing import NamedTuple

from jsctl.base.files import CONFIG_SIZE, read_bytes, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.chain import validate_part
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.files import Backup

_FORMAT = 1


class Validation(NamedTuple):
    """What a validation with a receipt did: the parts that were read, and those that the receipt names."""

    read: list[Path]
    known: list[Path]


def validate_with_receipt(backup: Backup, path: Path, advance: Advance) -> Validation:
    """Read the parts of a backup that a receipt does not name, and add them to it.

    path: of the receipt, which may not exist yet. advance: called with the number of bytes read. Blocks: call
    it in a thread. Raises BadInput for a damaged part, also for one without digests.
    """
    if not backup.digests:
        raise BadInput(
            f"{backup.path} has no digests, so that there can be no receipt", "validate it without --receipt"
        )
    parts = _read_receipt(path)
    validation = Validation([], [])
    for part in backup.parts:
        state = _describe(part)
        if parts.get(part.digest) == state:
            validation.known.append(part.path)
            continue
        validate_part(part, advance)
        if _describe(part) != state:
            raise BadInput(f"{part.path} was changed while it was read", "validate it again")
        parts[part.digest] = state
        validation.read.append(part.path)
    write_atomically(path, json.dumps({"format": _FORMAT, "parts": parts}, indent=2) + "\n", mode=None)
    return validation


def _describe(part: Backup) -> Json:
    names = [part.packed.name] if part.packed else sorted(map(part.get_stored_name, part.digests))
    folder = part.packed.parent if part.packed else part.path
    statuses = {name: (folder / name).stat() for name in names}
    return {
        "path": str(part.path),
        "files": {name: [status.st_size, status.st_mtime_ns] for name, status in statuses.items()},
    }


def _read_receipt(path: Path) -> dict[str, Json]:
    if not path.exists():
        return {}
    try:
        content = parse_json(read_bytes(path, "", CONFIG_SIZE, regular=True))
        parts = content["parts"]
        if content["format"] != _FORMAT or not isinstance(parts, dict):
            raise ValueError
    except (ValueError, LookupError, TypeError):
        raise BadInput(f"{path} is not a receipt", "choose another file, or remove it") from None
    return dict(parts)
