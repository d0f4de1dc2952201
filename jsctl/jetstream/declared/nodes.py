"""YAML and JSON with the place of every value, so that each error names file and line."""

import contextlib
import json
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, NamedTuple

import yaml

from jsctl.errors import BadInput
from jsctl.units import format_rfc3339

_DEPTH = 40
_VALUES = 1_000_000
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  #: libyaml is faster
_HINT = "text with {{...}} goes into quotes"


class Node(NamedTuple):
    """A value of a file. value: a scalar, a list of Nodes, or a dict of Nodes by key.

    text: a scalar as it was written, so that `name: NO` or `version: 1.10` can be taken as text.
    """

    value: Any
    file: str
    line: int
    text: str = ""

    def error(self, message: str, hint: str = "") -> BadInput:
        """The error with file and line."""
        return BadInput(f"{self.file}:{self.line}: {message}", hint)

    def keys(self, what: str) -> "dict[str, Node]":
        """The value as an object. Raises BadInput."""
        if not isinstance(self.value, dict):
            raise self.error(f"{what} is an object with keys", _quoted(self))
        return self.value

    def items(self, what: str) -> "list[Node]":
        """The value as a list. Raises BadInput."""
        if not isinstance(self.value, list):
            raise self.error(f"{what} is a list", _quoted(self))
        return self.value

    def string(self, what: str) -> str:
        """The value as text, as it was written. Raises BadInput."""
        if isinstance(self.value, (dict, list)) or self.value is None:
            raise self.error(f"{what} is text", _quoted(self))
        return self.text

    def plain(self) -> Any:
        """The value alone, as JSON has it."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


def documents(text: str, file: str) -> Iterator[Node]:
    """The documents of a YAML or JSON text; empty ones are left out. Raises BadInput."""
    loader = _Loader(_without_tabs(text))
    reader = _Reader(loader, file)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None and (found := reader.read(node, 0)).value is not None:
                yield found
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark else file
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        lines = text.splitlines()
        near = lines[mark.line] if mark and mark.line < len(lines) else ""
        raise BadInput(f"{where}: {problem}", _HINT if "{{" in near else "") from None
    except RecursionError:
        raise BadInput(f"{file}: it is nested too deeply") from None
    finally:
        loader.dispose()


class _Reader:
    def __init__(self, loader: yaml.SafeLoader, file: str) -> None:
        self._loader = loader
        self._file = file
        self._left = _VALUES  # aliases of aliases could make billions

    def read(self, node: yaml.Node, depth: int) -> Node:
        line = node.start_mark.line + 1
        self._left -= 1
        if depth > _DEPTH or self._left < 0:
            raise BadInput(f"{self._file}:{line}: it is nested too deeply or too large")
        if isinstance(node, yaml.MappingNode):
            return Node(self._mapping(node, depth), self._file, line)
        if isinstance(node, yaml.SequenceNode):
            return Node([self.read(one, depth + 1) for one in node.value], self._file, line)
        try:
            value = self._loader.construct_object(node)
        except (ValueError, yaml.YAMLError) as error:
            reason = getattr(error, "problem", None) or error
            raise BadInput(f"{self._file}:{line}: {node.value!r}: {reason}") from None
        return Node(_scalar(value, node.value), self._file, line, node.value)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Node]:
        found: dict[str, Node] = {}
        self._refuse_twice(node)
        self._loader.flatten_mapping(node)  # `<<: *base`; what is merged comes first
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                at = key_node.start_mark.line + 1
                raise BadInput(f"{self._file}:{at}: a key is text", _HINT)
            found[key_node.value] = self.read(value_node, depth + 1)
        return found

    def _refuse_twice(self, node: yaml.MappingNode) -> None:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise BadInput(f"{self._file}:{key.start_mark.line + 1}: {key.value!r} is there twice")
                seen.add(key.value)


def _scalar(value: Any, text: str) -> Any:
    """YAML knows times and bytes; JSON and the server do not."""
    if isinstance(value, datetime):
        return format_rfc3339(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return value.isoformat() if isinstance(value, date) else text


def _without_tabs(text: str) -> str:
    """JSON may be indented with tabs, YAML may not; inside a JSON string none can stand."""
    if "\t" in text and text.lstrip()[:1] in ("{", "["):
        with contextlib.suppress(ValueError):
            json.loads(text)
            return text.replace("\t", " ")
    return text


def _quoted(node: Node) -> str:
    """`max_age: {{age}}` is an object to YAML."""
    return _HINT if isinstance(node.value, dict) else ""
