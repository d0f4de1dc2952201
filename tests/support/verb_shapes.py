"""What scripts may rely on of every verb: its exit status and the keys of its JSON, frozen in
tests/contract/json_shapes.txt, in the lines that begin with `= `.
"""

import json
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).parents[1] / "contract" / "json_shapes.txt"


class VerbShape(NamedTuple):
    """How a verb ends when it works, and the keys of its document or, of a list, of its items."""

    status: str
    keys: frozenset[str]

    def format(self, path: str) -> str:
        """Return the line of the file."""
        return f"= {path} ({self.status}): {' '.join(sorted(self.keys))}".rstrip()


def read() -> dict[str, VerbShape]:
    """Return the shapes by verb."""
    found = re.findall(r"^= (.+) \((.+)\):(.*)$", FILE.read_text(), re.MULTILINE)
    return {path: VerbShape(status, frozenset(keys.split())) for path, status, keys in found}


def _list_keys(out: str) -> frozenset[str]:
    try:
        document: Any = json.loads(out)
    except ValueError:  # a line for each event
        document = [json.loads(line) for line in out.splitlines()]
    items = document if isinstance(document, list) else [document]
    return frozenset(key for item in items if isinstance(item, dict) for key in item)


def find_difference(path: str, status: int, out: str, *, is_endless: bool) -> str:
    """Return how a verb differs from its line of the file: another status, or keys that are gone; empty for
    nothing. New keys are none. JSCTL_GOLDEN=write writes the line, to be read before it is committed."""
    shape = VerbShape("until ctrl-C" if is_endless and status in (0, 130) else str(status), _list_keys(out))
    if os.environ.get("JSCTL_GOLDEN") == "write":
        _write(path, shape)
    expected = read().get(path)
    if expected is None:
        return f"{path} is not in {FILE.name}; JSCTL_GOLDEN=write writes it"
    if shape.status != expected.status:
        return f"{path}: status {shape.status}, expected {expected.status}"
    gone = expected.keys - shape.keys if shape.keys else ()  # an empty list shows none
    return f"{path}: without {', '.join(sorted(gone))}" if gone else ""


def _write(path: str, shape: VerbShape) -> None:
    others = [line for line in FILE.read_text().splitlines() if not line.startswith("= ")]
    lines = [known.format(name) for name, known in sorted({**read(), path: shape}.items())]
    FILE.write_text("\n".join([*others, *lines]) + "\n")
