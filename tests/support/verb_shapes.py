"""What scripts may rely on of every verb: its exit status and the keys of its JSON, at every depth, frozen in
tests/contract/json_shapes.txt, in the lines that begin with `= ` and in those below them with `- `.
"""

import json
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.generated import is_writing, rewrite
from tests.support.run import Cli
from tests.support.waiting import wait_for

FILE = Path(__file__).parents[1] / "contract" / "json_shapes.txt"

NAMES = frozenset(
    {
        *("metadata", "headers", "header", "mappings", "revocations", "resolver_preload", "percentiles_ns"),
        *("feature_flags", "subjects", "configuration", "numbers", "rows"),
        *("properties", "definitions"),
    }
)
"""Keys of objects whose own keys are names, of users or of servers; they are written as `*`."""

NAMES_OF_VERBS = {
    "auth account mappings add": "",
    "auth account mappings info": "",
    "export query": "",
    "server report cpu": "",
    "server report mem": "",
    "server request ipqueue": "data",
    "stream subjects": "",
    "watch": "values",
}
"""Verbs, and the path of their object whose keys are names."""


class VerbShape(NamedTuple):
    """How a verb ends when it works, and the keys of its document, or of a list's items, by the path of the
    object that has them: empty for the outermost, `config.placement`, `sources[]`.
    """

    status: str
    keys: Mapping[str, frozenset[str]]

    def format(self, path: str) -> str:
        """Return the lines of the file."""
        objects = sorted(self.keys.items())
        top = " ".join(sorted(self.keys.get("", ())))
        nested = [f"- {parent}: {' '.join(sorted(keys))}" for parent, keys in objects if parent]
        return "\n".join([f"= {path} ({self.status}): {top}".rstrip(), *nested])


def read() -> dict[str, VerbShape]:
    """Return the shapes by verb."""
    return parse(FILE.read_text())


def parse(text: str) -> dict[str, VerbShape]:
    """Return the shapes by verb in the text of the file."""
    found: dict[str, VerbShape] = {}
    keys: dict[str, frozenset[str]] = {}
    for line in text.splitlines():
        head, _, rest = line[2:].partition(":")
        if line.startswith("= "):
            path, _, status = head.rstrip(")").rpartition(" (")
            keys = {"": frozenset(rest.split())}
            found[path] = VerbShape(status, keys)
        elif line.startswith("- "):
            keys[head] = frozenset(rest.split())
    return found


def _list_objects(value: Any, by_name: str | None, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path of each object and each of its keys. by_name: the path of one whose keys are names."""
    for item in value if isinstance(value, list) else ():
        yield from _list_objects(item, by_name, f"{path}[]")
    if isinstance(value, dict):
        is_by_name = path == by_name or path.rpartition(".")[2] in NAMES
        for key, inner in value.items():
            name = "*" if is_by_name else key
            yield path, name
            yield from _list_objects(inner, by_name, f"{path}.{name}" if path else name)


def _read_keys(out: str, by_name: str | None) -> dict[str, frozenset[str]]:
    try:
        document: Any = json.loads(out)
    except ValueError:  # a line for each event
        document = [json.loads(line) for line in out.splitlines()]
    keys: dict[str, set[str]] = {}
    for item in document if isinstance(document, list) else [document]:
        for path, key in _list_objects(item, by_name):
            keys.setdefault(path, set()).add(key)
    return {path: frozenset(names) for path, names in keys.items()}


def find_difference(
    path: str, status: int, out: str, *, is_endless: bool = False, is_last: bool = True
) -> str:
    """Return how a verb differs from its lines of the file: another status, or keys that are gone from an
    object that is there; empty for nothing. New keys are none. JSCTL_GOLDEN=write writes what differs, to be
    read before it is committed. is_last: whether the verb is not run again if it differs."""
    keys = _read_keys(out, NAMES_OF_VERBS.get(path))
    shape = VerbShape("until ctrl-C" if is_endless and status in (0, 130) else str(status), keys)
    difference = _compare(path, shape, read().get(path))
    if difference and is_last and is_writing():
        rewrite(FILE, lambda text: _merge(text, path, shape))
        return ""
    return difference


def _compare(path: str, shape: VerbShape, expected: VerbShape | None) -> str:
    if expected is None:
        return f"{path} is not in {FILE.name}; python -m tests.support.generate writes it"
    if shape.status != expected.status:
        return f"{path}: status {shape.status}, expected {expected.status}"
    gone = [
        f"{parent}.{key}".lstrip(".")
        for parent, keys in expected.keys.items()
        for key in sorted(keys - shape.keys.get(parent, keys))  # what is not there, or empty, shows none
    ]
    return f"{path}: without {', '.join(gone)}" if gone else ""


def _merge(text: str, path: str, shape: VerbShape) -> str:
    """Return the file with the lines of a verb as it has run; objects that were not there stay."""
    known = parse(text)
    keys = known[path].keys if path in known else {}
    return _replace(text, {**known, path: VerbShape(shape.status, {**keys, **shape.keys})})


def keep(text: str, verbs: Set[str]) -> str:
    """Return the file without the lines of other verbs."""
    return _replace(text, {path: shape for path, shape in parse(text).items() if path in verbs})


def _replace(text: str, shapes: Mapping[str, VerbShape]) -> str:
    others = [line for line in text.splitlines() if not line.startswith(("= ", "- "))]
    return "\n".join([*others, *(known.format(name) for name, known in sorted(shapes.items()))]) + "\n"


class Verbs:
    """Calls lines with --json, and keeps what differs from the file."""

    def __init__(self) -> None:
        self.differences: list[str] = []

    def check(self, cli: Cli, path: str, line: str) -> Any:
        """Compare a line of the verb `path` when it has succeeded: groups of a cluster need a while."""
        outcomes = []

        def succeeds() -> bool:
            outcomes.append(cli([*line.split(), "--json"]))
            return outcomes[-1].status == 0

        try:
            wait_for(succeeds, line, 40)
        except AssertionError:
            raise AssertionError(f"{line}: {outcomes[-1]}") from None
        difference = find_difference(path, 0, outcomes[-1].out)
        said = f"{path} says without a terminal: {outcomes[-1].err}" if outcomes[-1].err else ""
        self.differences += filter(None, (difference, said))
        return json.loads(outcomes[-1].out)
