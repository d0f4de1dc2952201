"""YAML and JSON documents, read into Nodes."""

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from jsctl.base.units import format_rfc3339
from jsctl.errors import BadInput, FileWarning, collecting, raise_all
from jsctl.jetstream.config.nodes import QUOTES_HINT, Node

if TYPE_CHECKING:
    import yaml

_MAX_DEPTH = 40
"""Maximum number of objects and lists within each other."""
_MAX_VALUES = 1_000_000
"""Maximum number of values of a file; each takes half a kilobyte of memory. An export of 5,000 streams with
two consumers each has 500,000."""
_ALIASED = 10_000
"""Maximum number of values that aliases may add."""


def parse_documents(text: str, file: str) -> Iterator[Node]:
    """Yield the documents of a YAML or JSON text that are not empty. file: its name, for errors.

    Raises BadInput with file and line.
    """
    if text.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, IndexError):  # it is not JSON: YAML may begin with a bracket, too
            return iter([_JsonReader(text, file).read_document()])
    return _parse_yaml(text, file)


def read_files(
    files: Iterable[tuple[str, str]], reads: Sequence[Callable[[Node], object]], errors: list[BadInput]
) -> None:
    """Call each of `reads` with each document of files. files: name and text of each. errors: receives those
    of all documents, which are then raised together."""
    for name, text in files:
        with collecting(errors):
            for document in parse_documents(text, name):
                for read in reads:
                    with collecting(errors):
                        read(document)
    raise_all(errors)


def parse_document(text: str, file: str) -> Node:
    """Parse the only object of a YAML or JSON text. Raises BadInput."""
    nodes = list(parse_documents(text, file))
    if len(nodes) > 1:
        raise nodes[1].error("only one document is expected")
    if not nodes or not isinstance(nodes[0].value, dict):
        raise BadInput(f"{file} holds no configuration", "write a JSON or YAML object")
    return nodes[0]


class _JsonReader:
    """A reader of JSON that knows the line of each value. Raises ValueError or IndexError for invalid
    JSON."""

    _SPACE = re.compile(r"[ \t\r\n]*")
    _SCALAR = re.compile(r'["\d-]|true|false|null')
    _DECODER = json.JSONDecoder()

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._at = 0
        self._line = 1
        self._counted_to = 0  # offset up to which line ends were counted
        self._values = 0

    def read_document(self) -> Node:
        self._skip_space()
        node = self._read(0)
        self._skip_space()
        if self._at != len(self._text):
            raise ValueError
        return node

    def _read(self, depth: int) -> Node:
        self._line += self._text.count("\n", self._counted_to, self._at)
        self._counted_to = self._at
        line, first = self._line, self._text[self._at]
        self._values += 1
        _check_limits(self._file, line, depth, self._values)
        if first == "{":
            return Node(self._read_object(depth), self._file, line)
        if first == "[":
            return Node(self._read_list(depth), self._file, line)
        value, text = self._read_scalar()
        return Node(value, self._file, line, value if isinstance(value, str) else text)

    def _read_object(self, depth: int) -> dict[str, Node]:
        members: dict[str, Node] = {}
        self._at += 1
        self._skip_space()
        while self._text[self._at] != "}":
            if members:
                self._expect(",")
            start = self._at
            key, _ = self._read_scalar()
            if not isinstance(key, str):
                raise ValueError
            self._expect(":")
            node = self._read(depth + 1)
            if key in members:
                place = f"{self._file}:{1 + self._text.count(chr(10), 0, start)}"
                if members[key].to_json() != node.to_json():
                    raise BadInput(f"{place}: {key!r} is set twice")
                warnings.warn(f"{place}: {key!r} is set twice, to the same", FileWarning, stacklevel=1)
            members[key] = node
            self._skip_space()
        self._at += 1
        return members

    def _read_list(self, depth: int) -> list[Node]:
        items: list[Node] = []
        self._at += 1
        self._skip_space()
        while self._text[self._at] != "]":
            if items:
                self._expect(",")
            items.append(self._read(depth + 1))
            self._skip_space()
        self._at += 1
        return items

    def _read_scalar(self) -> tuple[Any, str]:
        """Read a value; return it and its text."""
        start = self._at
        if not self._SCALAR.match(self._text, start):
            raise ValueError
        value, self._at = self._DECODER.raw_decode(self._text, start)
        return value, self._text[start : self._at]

    def _expect(self, mark: str) -> None:
        self._skip_space()
        if self._text[self._at] != mark:
            raise ValueError
        self._at += 1
        self._skip_space()

    def _skip_space(self) -> None:
        match = self._SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at


def _check_limits(file: str, line: int, depth: int, values: int) -> None:
    """Raise BadInput for a document that would take too much memory or time."""
    if depth > _MAX_DEPTH:
        raise BadInput(f"{file}:{line}: nested too deeply, at most {_MAX_DEPTH} levels are valid")
    if values > _MAX_VALUES:
        raise BadInput(f"{file}:{line}: more than {_MAX_VALUES:,} values")


def _check_yaml(text: str, file: str) -> None:
    """Raise BadInput for a document with too many values, before they take memory."""
    import yaml

    if text.count(",") + 2 * text.count("\n") < _MAX_VALUES:
        return
    values = 0
    for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        values += isinstance(event, yaml.NodeEvent)
        _check_limits(file, event.start_mark.line + 1 if event.start_mark else 1, 0, values)


def _parse_yaml(text: str, file: str) -> Iterator[Node]:
    import yaml

    # libyaml's loader is faster, but not in every build.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    reader = _YamlReader(loader, file, len(text))
    try:
        _check_yaml(text, file)
        while loader.check_node():
            node = loader.get_node()
            if node is not None and (document := reader.read(node, 0)).value is not None:
                yield document
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}:{mark.line + 1}" if mark else file
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        lines = text.splitlines()
        faulty_line = lines[mark.line] if mark and mark.line < len(lines) else ""
        if re.match(r"\s*\t", faulty_line):
            raise BadInput(f"{place}: a line begins with a tab", "indent with spaces") from None
        raise BadInput(f"{place}: {problem}", QUOTES_HINT if "{{" in faulty_line else "") from None
    except RecursionError:
        raise BadInput(f"{file}: nested too deeply, at most {_MAX_DEPTH} levels are valid") from None
    finally:
        loader.dispose()


class _YamlReader:
    def __init__(self, loader: "yaml.SafeLoader", file: str, size: int) -> None:
        self._loader = loader
        self._file = file
        # Aliases of aliases could make billions; without aliases each value has a character of its own.
        self._max_values = min(_MAX_VALUES, size + _ALIASED)
        self._values = 0

    def read(self, node: "yaml.Node", depth: int) -> Node:
        import yaml

        line = node.start_mark.line + 1
        self._values += 1
        if self._values > self._max_values < _MAX_VALUES:
            raise BadInput(f"{self._file}:{line}: aliases expand to more than {_ALIASED:,} values")
        _check_limits(self._file, line, depth, self._values)
        if isinstance(node, yaml.MappingNode):
            return Node(self._read_mapping(node, depth), self._file, line)
        if isinstance(node, yaml.SequenceNode):
            return Node([self.read(item, depth + 1) for item in node.value], self._file, line)
        try:
            value = self._loader.construct_object(node)
        except (ValueError, yaml.YAMLError) as error:
            reason = getattr(error, "problem", None) or str(error)
            if "integer string conversion" in reason:  # Python's text names a Python function
                reason = f"a number has at most {sys.get_int_max_str_digits():,} digits"
            excerpt = repr(node.value[:40]) + "..." * (len(node.value) > 40)
            raise BadInput(f"{self._file}:{line}: {excerpt}: {reason}") from None
        return Node(_to_json_scalar(value, node.value), self._file, line, node.value)

    def _read_mapping(self, node: "yaml.MappingNode", depth: int) -> dict[str, Node]:
        members: dict[str, Node] = {}
        self._refuse_repeated_keys(node)
        self._loader.flatten_mapping(node)  # `<<: *base`; merged keys come first
        for key_node, value_node in node.value:
            if not hasattr(key_node, "value") or not isinstance(key_node.value, str):
                line = key_node.start_mark.line + 1
                raise BadInput(f"{self._file}:{line}: a key must be text", QUOTES_HINT)
            members[key_node.value] = self.read(value_node, depth + 1)
        return members

    def _refuse_repeated_keys(self, node: "yaml.MappingNode") -> None:
        names: set[str] = set()
        for key, _ in node.value:
            if isinstance(key.value, str) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in names:
                    raise BadInput(f"{self._file}:{key.start_mark.line + 1}: {key.value!r} is set twice")
                names.add(key.value)


def _to_json_scalar(value: Any, text: str) -> Any:
    """Convert a scalar to one that JSON has: YAML also has times and bytes."""
    if isinstance(value, datetime):
        return format_rfc3339(value if value.tzinfo else value.astimezone())
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return value.isoformat() if isinstance(value, date) else text
