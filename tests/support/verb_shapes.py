"""What scripts may rely on of every verb: its exit status, and keys and kinds of its JSON, at every depth,
frozen in jsctl/schema/outputs.txt, from which the schemas of outputs are made.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jsctl.env import Env
from jsctl.schema.catalog import list_names, load_schema
from jsctl.schema.outputs import ANY, KINDS, Output, describe, is_optional, parse
from jsctl.schema.validator import validate
from tests.support.generated import is_writing, rewrite
from tests.support.run import Cli, Outcome
from tests.support.waiting import wait_for

FILE = Path(__file__).parents[2] / "jsctl" / "schema" / "outputs.txt"

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

_ANY_VALUES = frozenset(("export query", "schema info"))
"""Verbs whose values may be anything: data of users, and schemas."""

_DIFFERENCE = frozenset(("key", "before", "after"))
"""The keys of a difference, whose values are those of any setting."""


def read() -> Mapping[str, Output]:
    """Return the outputs by verb."""
    return _parse_once(FILE.read_text())


_parse_once = lru_cache(maxsize=1)(parse)
"""Every line of a verb that a test runs is compared with the same text."""


def _find_kind(value: Any, *, nested: bool = False) -> str:
    if isinstance(value, list):
        return (
            "list" if nested else f"[{'|'.join(sorted({_find_kind(item, nested=True) for item in value}))}]"
        )
    names = {bool: "bool", int: "number", float: "number", str: "text", dict: "object"}
    return names.get(type(value), "null")


def _list_objects(value: Any, by_name: str | None, path: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the path of each object, and its keys with their kinds. by_name: the path of one whose keys are
    names."""
    for item in value if isinstance(value, list) else ():
        yield from _list_objects(item, by_name, f"{path}[]")
    if isinstance(value, dict):
        is_by_name = path == by_name or path.rpartition(".")[2] in NAMES
        members: dict[str, str] = {}
        for key, inner in value.items():
            name = ANY if is_by_name else key
            is_any = key in ("before", "after") and value.keys() >= _DIFFERENCE
            members[name] = "any" if is_any else merge_kinds(members.get(name, ""), _find_kind(inner))
            if is_any:
                continue
            yield from _list_objects(inner, by_name, f"{path}.{name}" if path else name)
        yield path, members


def merge_kinds(*kinds: str) -> str:
    """Return the kind of values that have one of these kinds."""
    mark = "?" if any(map(is_optional, kinds)) else ""
    plain, items, has_lists = set[str](), set[str](), False
    for inner, word in (match.groups() for kind in kinds for match in KINDS.finditer(kind)):
        if word:
            plain.add(word)
        else:
            has_lists = True
            items |= {*filter(None, inner.split("|"))}
    words = sorted(plain) + ([f"[{'|'.join(sorted(items - {'null'}))}]"] if has_lists else [])
    return mark + "|".join([word for word in words if word != "null"] or words)


def merge_members(*objects: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of objects and their kinds: those that one of the objects lacks are optional."""
    return {
        key: merge_kinds(*(members.get(key, "" if key == ANY else "?") for members in objects))
        for key in dict.fromkeys(key for members in objects for key in members)
    }


def find_output(status: str, out: str, verb: str) -> Output:
    """Return what a verb has written: a document, or a line for each event."""
    by_name, is_any = NAMES_OF_VERBS.get(verb), verb in _ANY_VALUES
    documents = _list_documents(out)
    kind = merge_kinds(*map(_find_kind, documents))
    keys: dict[str, dict[str, str]] = {}
    for item in (item for one in documents for item in (one if isinstance(one, list) else [one])):
        for path, members in _list_objects(item, by_name):
            if not is_any:
                keys[path] = merge_members(keys[path], members) if path in keys else members
            elif not path:
                keys[path] = dict.fromkeys({*members, *keys.get(path, {})}, "any")
    return Output(status, kind, keys)


def find_difference(
    path: str, status: int, out: str, *, is_endless: bool = False, is_last: bool = True
) -> str:
    """Return how a verb differs from its lines of the file: another status, keys that are gone from an object
    that is there, or kinds of values that no line names; empty for nothing. New keys are none.
    JSCTL_GOLDEN=write writes what differs, to be read before it is committed: kinds are added to those of a
    key, and leave by hand; new keys, if JSCTL_GOLDEN_VERBS names the verb. is_last: whether the verb is not
    run again if it differs."""
    ending = "until ctrl-C" if is_endless and status in (0, 130) else str(status)
    shape = find_output(ending, out, path)
    difference = _compare(path, shape, read().get(path))
    is_anew = path in os.environ.get("JSCTL_GOLDEN_VERBS", "").split(",")
    if (difference or is_anew) and is_last and is_writing():
        rewrite(FILE, lambda text: _merge(text, path, shape))
        return ""
    return difference


def find_faults(env: Env, args: Sequence[str], outcome: Outcome) -> list[str]:
    """Return what is not valid in an output by the schema of its verb, if it has a form that the schema
    describes: flags such as --names have others. JSCTL_GOLDEN=write makes keys optional that an output lacks,
    and adds kinds, and of --dry-run and --missing-ok whole forms."""
    if not env.wants_json or not outcome.out or env.verb not in (lines := read()):
        return []
    try:
        shape = find_output(str(outcome.status), outcome.out, env.verb)
    except ValueError:  # text, such as that of --help
        return []
    flag = "--dry-run" * ("--dry-run" in args)
    if shape.keys.get("", {}).keys() == {"removed", "missing"}:
        flag = "--missing-ok"
    if env.verb == "publish" and "seq" in shape.keys.get("", {}):  # with --count, totals come with acks, too
        flag = "--jetstream"
    if env.verb == "object info" and "config" in shape.keys.get("", {}):
        flag = "BUCKET"
    form = f"{env.verb} {flag}".rstrip()
    known = lines.get(form)
    if flag and is_writing():
        rewrite(FILE, lambda text: _add(text, form, shape))
        return []
    if known is None:
        return [f"{form} is not in {FILE.name}; python -m tests.support.generate writes it"]
    if not flag and (
        known.status not in (str(outcome.status), "until ctrl-C")
        or shape.kind != known.kind
        or (shape.keys.get("") and not shape.keys[""].keys() & known.keys[""].keys())
    ):
        return []  # another form, such as that of doctor --spark
    if is_writing():
        marked = {
            path: {
                key: merge_kinds(kind, shape.keys[path].get(key, "" if key == ANY else "?"))
                for key, kind in members.items()
            }
            if path in shape.keys
            else members
            for path, members in known.keys.items()
        }
        if marked != known.keys:
            rewrite(FILE, lambda text: _replace(text, {**parse(text), form: known._replace(keys=marked)}))
        return []
    schema = describe(known)
    return [
        f"{form}: {error}"
        for document in _list_documents(outcome.out)
        for error in validate(document, schema)
    ]


def _add(text: str, form: str, shape: Output) -> str:
    """Return the file with what one more output of a form has."""
    known = parse(text).get(form, shape)
    keys = {
        path: mark_sent(
            form,
            path,
            merge_members(*(one.keys[path] for one in (known, shape) if path in one.keys)),
        )
        for path in {**known.keys, **shape.keys}
    }
    merged = Output(known.status, merge_kinds(shape.kind, known.kind), keys)
    return _replace(text, {**parse(text), form: merged})


def _list_documents(out: str) -> list[Any]:
    try:
        return [json.loads(out)]
    except ValueError:
        return [json.loads(line) for line in out.splitlines()]


def _compare(path: str, shape: Output, expected: Output | None) -> str:
    if expected is None:
        return f"{path} is not in {FILE.name}; python -m tests.support.generate writes it"
    if shape.status != expected.status:
        return f"{path}: status {shape.status}, expected {expected.status}"
    if merge_kinds(shape.kind, expected.kind) != expected.kind:
        return f"{path}: {shape.kind}, expected {expected.kind}"
    gone = [
        f"{parent}.{key}".lstrip(".")
        for parent, keys in expected.keys.items()
        for key in sorted(keys.keys() - shape.keys.get(parent, keys).keys())
        if shape.keys[parent] or not (is_optional(keys[key]) or key == ANY)  # what is empty shows none
    ]
    if gone:
        return f"{path}: without {', '.join(gone)}"
    others = [
        f"{parent}.{key} is {kind}, expected {known}".lstrip(".")
        for parent, keys in shape.keys.items()
        for key, kind in sorted(keys.items())
        if (known := expected.keys.get(parent, {}).get(key)) is not None
        and merge_kinds(
            known, kind if known.removeprefix("?") not in ("any", "null") else "?" * is_optional(kind)
        )
        != known
    ]
    return f"{path}: {', '.join(others)}" if others else ""


_OF_SERVERS = ("server request", "server info", "server report connections", "account report", "events")
"""Verbs whose objects are those of servers, without a schema of their own."""


@cache
def _list_sent() -> list[tuple[Set[str], Set[str]]]:
    """Return the keys, and the required ones, of all objects in what servers send."""

    def list_objects(schema: Any) -> Iterator[tuple[Set[str], Set[str]]]:
        if isinstance(schema, dict):
            if isinstance(schema.get("properties"), dict):
                yield schema["properties"].keys(), {*schema.get("required", ())}
            for inner in schema.values():
                yield from list_objects(inner)

    names = (name for name in list_names() if not name.startswith("io.jsctl."))
    return [found for name in names for found in list_objects(load_schema(name))]


def mark_sent(verb: str, path: str, members: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of an object: of one that a server sends, those that its schema does not require are
    optional, as they depend on values and on its version; all of the claims in a JWT, which lack what is
    empty."""
    required: Set[str] = members.keys()
    if verb.startswith(_OF_SERVERS) or (verb.startswith("auth ") and path.partition(".")[0] == "nats"):
        required = set()
    elif len(members) > 3:
        known, found = max(_list_sent(), key=lambda sent: len(sent[0] & members.keys()) - len(sent[0]) / 1000)
        if len(known & members.keys()) > len(members) * 0.6 and found <= {*members, "type"}:
            required = found
    return {
        key: merge_kinds(kind, "" if key in required or key == ANY else "?") for key, kind in members.items()
    }


def _merge(text: str, path: str, shape: Output) -> str:
    """Return the file with the lines of a verb as it has run; objects that were not there stay."""
    known = parse(text).get(path, shape)
    keys = {
        parent: mark_sent(
            path,
            parent,
            {
                key: merge_kinds(kind, known.keys.get(parent, {}).get(key, ""))
                for key, kind in members.items()
            },
        )
        for parent, members in shape.keys.items()
        if members
    }
    merged = Output(shape.status, merge_kinds(shape.kind, known.kind), {**known.keys, **keys})
    return _replace(text, {**parse(text), path: merged})


def keep(text: str, verbs: Set[str]) -> str:
    """Return the file without the lines of other verbs."""
    return _replace(
        text, {path: shape for path, shape in parse(text).items() if path.partition(" --")[0] in verbs}
    )


def require_all(text: str, verbs: Set[str]) -> str:
    """Return the file with all keys of some verbs required that a server does not leave out: those that
    outputs lack become optional again as tests write them. Raises KeyError."""
    shapes = parse(text)
    for verb in verbs:
        keys = {
            path: mark_sent(verb, path, {key: kind.removeprefix("?") for key, kind in members.items()})
            for path, members in shapes[verb].keys.items()
        }
        shapes[verb] = shapes[verb]._replace(keys=keys)
    return _replace(text, shapes)


def _replace(text: str, shapes: Mapping[str, Output]) -> str:
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
