"""What verbs write with --json, and its JSON schemas: from `outputs.txt`, which tests compare with verbs."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jsctl import registry

Json = dict[str, Any]

PREFIX = "io.jsctl.v1."
ANY = "*"
"""The key of an object whose keys are names, of users or of servers."""

_TYPES = {"text": "string", "bool": "boolean", "list": "array"}
FORMS = ("--dry-run", "--missing-ok", "--jetstream", "BUCKET")
"""Flags, and arguments alone, with which a verb writes something else; it has a line of its own, such as
`stream rm --dry-run`."""

KINDS = re.compile(r"\[([^]]*)]|(\w+)")
"""The words of a kind: what the items of a list are, or another one."""


class Output(NamedTuple):
    """What a verb writes, as it was seen.

    status: how it ends when it works. kind: of the document. keys: the kind of each key, by the path of the
    object that has it: empty for the document or the objects of its list, `config.placement`, `sources[]`.

    A kind is text, number, bool or object, a list `[text]`, or several of them: `number|text`. Any value may
    be null; one that was nothing else has the kind null, and may be anything, as one of the kind any. That of
    a key which some objects lack begins with `?`; others are required.
    """

    status: str
    kind: str
    keys: Mapping[str, Mapping[str, str]]

    def format(self, verb: str) -> str:
        """Return the lines of the file."""
        kind = "" if self.kind == "object" else f" {self.kind}"
        nested = [f"- {path}: {_format(keys)}" for path, keys in sorted(self.keys.items()) if path and keys]
        return "\n".join(
            [f"= {verb} ({self.status}){kind}: {_format(self.keys.get('', {}))}".rstrip(), *nested]
        )


def _format(keys: Mapping[str, str]) -> str:
    words = (
        (f"{key}{'?' * is_optional(kind)}", kind.removeprefix("?")) for key, kind in sorted(keys.items())
    )
    return " ".join(key if kind == "text" else f"{key}:{kind}" for key, kind in words)


def _parse(text: str) -> dict[str, str]:
    pairs = (
        (key or kind, kind if key else "text")
        for key, _, kind in (word.rpartition(":") for word in text.split())
    )
    return {key.removesuffix("?"): f"{'?' * key.endswith('?')}{kind}" for key, kind in pairs}


def is_optional(kind: str) -> bool:
    """Return whether some objects lack a key of this kind."""
    return kind.startswith("?")


def parse(text: str) -> dict[str, Output]:
    """Return the outputs by verb in the text of the file."""
    outputs: dict[str, Output] = {}
    keys: dict[str, Mapping[str, str]] = {}
    for line in text.splitlines():
        head, _, rest = line[2:].partition(": ") if ": " in line else (line[2:].rstrip(":"), "", "")
        if line.startswith("= "):
            verb, status, kind = re.fullmatch(r"(.+) \((.+)\)(?: (\S+))?", head).groups()  # type: ignore[union-attr]
            keys = {"": _parse(rest)}
            outputs[verb] = Output(status, kind or "object", keys)
        elif line.startswith("- "):
            keys[head] = _parse(rest)
    return outputs


@cache
def load_outputs() -> Mapping[str, Mapping[str, Output]]:
    """Return the outputs by the name of their schema and the form of FORMS, empty without one, of the verbs
    that write a document."""
    text = files("jsctl.schema").joinpath("outputs.txt").read_text(encoding="utf-8")
    outputs: dict[str, dict[str, Output]] = {}
    for line, output in parse(text).items():
        verb, form = re.fullmatch(r"(.+?)(?: (--.+|[A-Z]+))?", line).groups()  # type: ignore[union-attr]
        if output.keys[""] or output.kind != "object":
            outputs.setdefault(PREFIX + verb.replace(" ", "_"), {})[form or ""] = output
    return outputs


def build_schema(name: str) -> Json:
    """Return the schema of what a verb writes. Raises KeyError.

    The keys that were in every output of the tests are required. Which others are there depends on the
    server, on what it holds and on flags; more may come. Of a verb with flags of FORMS, it is `anyOf` of what
    the verb writes without and with each.
    """
    outputs, verb = load_outputs()[name], name.removeprefix(PREFIX).replace("_", " ")
    subject = "Each line that" if any(one.status == "until ctrl-C" for one in outputs.values()) else "What"
    described = {
        "title": name,
        "description": f"{subject} {verb} writes with --json: {registry.list_commands()[verb].help}",
    }
    if outputs.keys() == {""}:
        return {**described, **describe(outputs[""])}
    forms = [{"title": f"{verb} {flag}".rstrip(), **describe(form)} for flag, form in outputs.items()]
    return {**described, "anyOf": forms}


def describe(output: Output) -> Json:
    """Return the schema of a document: the type of each key that is there, and of all others nothing."""
    return _build(output, output.kind, "", is_outermost=True)


def _build(output: Output, kind: str, path: str, *, is_outermost: bool = False) -> Json:
    """Return the schema of a value. path: of the objects in it."""
    types, kind = [] if is_outermost else ["null"], kind.removeprefix("?")
    schema: Json = {}
    if kind in ("any", "null"):
        return schema
    for inner, word in (match.groups() for match in KINDS.finditer(kind)):
        types.append(_TYPES.get(word, word) if word else "array")
        if word == "object":
            schema |= _build_object(output, path)
        elif word is None and inner:
            schema["items"] = _build(output, inner, path if is_outermost else f"{path}[]")
    return {"type": types[0] if len(types) == 1 else types, **schema}


def _build_object(output: Output, path: str) -> Json:
    properties = dict(_build_members(output, path))
    names = {"additionalProperties": properties.pop(ANY)} if ANY in properties else {}
    known = output.keys.get(path, {})
    required = sorted(key for key in properties if not is_optional(known[key]))
    return {
        **({"properties": properties} if properties else {}),
        **({"required": required} if required else {}),
        **names,
    }


def _build_members(output: Output, path: str) -> Iterator[tuple[str, Json]]:
    for key, kind in output.keys.get(path, {}).items():
        yield key, _build(output, kind, f"{path}.{key}" if path else key)
