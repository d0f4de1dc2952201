"""The errors of the JetStream API: those of nats-server 2.15.1, or those in a file of the form of its
server/errors.json."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.files import CONFIG_SIZE, read_text
from jsctl.base.json_text import parse_json
from jsctl.base.patterns import compile_pattern
from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput, NotFound

Code = dict[str, Any]
"""`constant`, `code` (HTTP-like), `error_code`, `description`, `comment`, `help`, `url`, `deprecates`."""

KEYS = ("constant", "code", "error_code", "description", "comment", "help", "url", "deprecates")

_TEXTS = ("constant", "description", "comment")

EMPTY: Code = {**dict.fromkeys(KEYS, ""), "code": 0, "error_code": 0}

_SORTS: dict[str, Callable[[Code], Any]] = {
    "code": lambda e: e["error_code"],
    "http": lambda e: (e["code"], e["error_code"]),
    "description": lambda e: str(e["description"]).lower(),
}
SORTS = {**_SORTS, **dict.fromkeys(("descr", "desc", "d"), _SORTS["description"])}


def load(path: str = "") -> list[Code]:
    """Return all errors that jsctl knows, or those of a file. Raises BadInput."""
    if path:
        return read(path)
    entries = []
    text = (files("jsctl.jetstream") / "api_errors.tsv").read_text()
    for line in text.splitlines():
        number, code, *texts = line.split("\t")
        numbers = {"error_code": int(number), "code": int(code)}
        entries.append({**EMPTY, **numbers, **dict(zip(_TEXTS, texts, strict=False))})
    return entries


def read(path: str) -> list[Code]:
    """Read the errors in a file; unknown fields are kept. Raises BadInput."""
    try:
        entries = parse_json(read_text(expand_home(path), "", CONFIG_SIZE))
    except ValueError:
        raise BadInput(f"{path} is not JSON") from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadInput(f"{path} is not a list of errors")
    return [{**EMPTY, **entry} for entry in entries]


def find_matching(entries: Sequence[Code], pattern: str) -> list[Code]:
    """Return the errors with a field that matches a regular expression, ignoring case.

    Raises BadInput, NotFound.
    """
    expression = compile_pattern(pattern, re.IGNORECASE)
    matching = [e for e in entries if any(expression.search(str(e.get(key, ""))) for key in KEYS)]
    if not matching:
        raise NotFound(f"no error matches {pattern!r}")
    return matching


def find_error(entries: Sequence[Code], number: int) -> Code:
    """Return the error with this code. Raises NotFound."""
    for entry in entries:
        if entry["error_code"] == number:
            return entry
    raise NotFound(f"there is no error {number}", f"{build_line('errors ls')} shows all")


def find_problems(entry: Code) -> list[str]:
    """Return what is wrong with an error's definition, by the rules of the server's own list."""
    problems = []
    description = str(entry.get("description") or "")
    constant = str(entry.get("constant") or "")
    if not _is_number(entry.get("error_code")) or entry["error_code"] < 10000:
        problems.append("error_code starts at 10000")
    if not _is_number(entry.get("code")) or not entry["code"]:
        problems.append("code is missing")
    if not constant:
        problems.append("constant is missing")
    if not description:
        problems.append("description is missing")
    if re.fullmatch(r"\{[^}]+\}", description) and not entry.get("comment"):
        problems.append("a description that is one token needs a comment")
    if description.count("{") != description.count("}"):
        problems.append("{ and } do not match")
    if "{" in description and not constant.endswith("F"):
        problems.append("the constant of a description with tokens ends in F")
    return problems


def find_duplicates(entries: Sequence[Code]) -> list[int]:
    """Return the error codes that occur more than once, sorted."""
    counts = Counter(entry["error_code"] for entry in entries)
    return sorted(number for number, count in counts.items() if count > 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
