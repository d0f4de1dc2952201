"""Variables and loops of declared files: `{{name}}` in any text, `for: {i: 0..9}` on a stream or consumer.

A name is replaced by its value, and `{{site.region}}` by a member of it; nothing is evaluated. The server's
own `{{wildcard(1)}}` and the like stay as they are, and `\\{{name}}` is the text `{{name}}`.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsctl.errors import BadInput
from jsctl.jetstream.config.nodes import Node

Variables = Mapping[str, Node]

MAX_SIZE = 1 << 20
"""Maximum number of characters of a text and of all variables of a file, with variables in them replaced."""

MAX_ROUNDS = 100_000
"""Maximum number of streams or consumers that one loop may declare."""

MAX_DECLARED = 100_000
"""Maximum number of streams and consumers that all loops together may declare."""

MAX_CHARACTERS = 64 << 20
"""Maximum number of characters of all declarations, with variables replaced and loops expanded, as for a
file; each value counts as 32 characters more."""

_NAME = r"[A-Za-z_]\w*"
_REFERENCE = re.compile(rf"(\\*)\{{\{{\s*({_NAME}(?:\.{_NAME})*)\s*\}}\}}")
_ESCAPABLE = re.compile(rf"(\\*)(\{{\{{\s*{_NAME}(?:\.{_NAME})*\s*\}}\}})")
_RANGE = re.compile(r"([0-9]{1,18})\.\.([0-9]{1,18})")


def expand(node: Node, variables: Variables) -> Node:
    """Return a copy with every variable replaced. A text that is only a variable becomes its value, which may
    be a number or a list. Raises BadInput for unknown names."""
    if isinstance(node.value, dict):
        members = {
            _replace_all(key, node, variables): expand(value, variables) for key, value in node.value.items()
        }
        return node._replace(value=members)
    if isinstance(node.value, list):
        return node._replace(value=[expand(item, variables) for item in node.value])
    if not isinstance(node.value, str) or "{{" not in node.value:
        return node
    reference = _REFERENCE.fullmatch(node.value)
    if reference and not reference[1]:
        variable = _find_variable(reference[2], node, variables)
        return variable._replace(file=node.file, line=node.line)
    text = _replace_all(node.value, node, variables)
    return node._replace(value=text, text=text)


def escape(text: str) -> str:
    """Return the text that `expand` turns into `text`."""
    return _ESCAPABLE.sub(lambda m: m[1] * 2 + "\\" + m[2], text)


def resolve_variables(variables: Node, above: Variables) -> dict[str, Node]:
    """Return a file's variables by name; each may use those before it, and those of `above` replace them.
    Raises BadInput."""
    resolved: dict[str, Node] = {}
    size = 0
    for name, node in variables.as_object("vars").items():
        if not re.fullmatch(_NAME, name):
            raise node.error(f"{name!r} is not the name of a variable", "use letters, digits and _")
        resolved[name] = above[name] if name in above else expand(node, {**above, **resolved})
        size += _measure_size(resolved[name])
        if size > MAX_SIZE:
            raise node.error(f"the variables have more than {MAX_SIZE:,} characters")
    return {**above, **resolved}


class Budget:
    """Limits for the expansion of loops and variables: a small file could otherwise fill the memory."""

    def __init__(self) -> None:
        self._rounds = MAX_DECLARED
        self._characters = MAX_CHARACTERS

    def add_rounds(self, rounds: int, node: Node) -> None:
        """Count the rounds of a loop before they are expanded. Raises BadInput."""
        self._rounds -= rounds
        if self._rounds < 0:
            raise node.error(f"the loops declare more than {MAX_DECLARED:,} streams and consumers")

    def expand(self, node: Node, label: str, variables: Variables, *apart: str) -> Node:
        """Return a copy of an object without the members `apart` and with every variable replaced; count its
        size. label: its name in errors. Raises BadInput."""
        members = {key: value for key, value in node.as_object(label).items() if key not in apart}
        expanded = expand(node._replace(value=members), variables)
        self._characters -= _measure_size(expanded)
        if self._characters < 0:
            raise expanded.error(f"the declarations have more than {MAX_CHARACTERS:,} characters")
        return expanded


def count_rounds(loop: Node | None, variables: Variables) -> int:
    """Return how many streams or consumers a loop declares; 0 without a loop. Raises BadInput."""
    return 0 if loop is None else math.prod(map(len, _list_loop_values(loop, variables).values()))


def iterate_loop(loop: Node | None, variables: Variables) -> Iterator[dict[str, Node]]:
    """Yield the variables of each round of a loop. Several variables give every combination, in which the
    last one changes fastest.

    A value is a range `0..9` (`00..09` keeps the zeros) or a list. Raises BadInput.
    """
    if loop is None:
        yield dict(variables)
        return
    values = _list_loop_values(loop, variables)
    for combination in itertools.product(*values.values()):
        yield {**variables, **dict(zip(values, combination, strict=True))}


def _list_loop_values(loop: Node, variables: Variables) -> dict[str, list[Node]]:
    """Return the values of each variable of a loop, by name."""
    values, total = {}, 1
    for name, node in loop.as_object("for").items():
        if not re.fullmatch(_NAME, name):
            raise node.error(f"{name!r} is not the name of a variable", "use letters, digits and _")
        values[name] = _list_values(expand(node, variables))
        total *= len(values[name])
        if total > MAX_ROUNDS:
            raise node.error(f"the loop has more than {MAX_ROUNDS:,} rounds")
    return values


def _list_values(node: Node) -> list[Node]:
    if isinstance(node.value, list):
        return node.value
    match = _RANGE.fullmatch(str(node.value).strip())
    if not match:
        raise node.error("a loop needs a range such as 0..9, or a list")
    first, last = int(match[1]), int(match[2])
    width = len(match[1]) if match[1].startswith("0") else 0
    numbers = range(first, last + 1) if first <= last else range(first, last - 1, -1)
    if len(numbers) > MAX_ROUNDS:
        raise node.error(f"the loop has more than {MAX_ROUNDS:,} rounds")
    return [node._replace(value=n if width < 2 else f"{n:0{width}}", text=f"{n:0{width}}") for n in numbers]


def _replace_all(text: str, node: Node, variables: Variables) -> str:
    size = len(text)

    def replace(match: re.Match[str]) -> str:
        nonlocal size
        marks = match[1]
        replaced = "\\" * (len(marks) // 2)
        if len(marks) % 2:
            replaced += match[0][len(marks) :]
        else:
            variable = _find_variable(match[2], node, variables)
            if isinstance(variable.value, (dict, list)) or variable.value is None:
                raise node.error(f"{{{{{match[2]}}}}} is not text")
            replaced += variable.text
        size += len(replaced)
        if size > MAX_SIZE:
            raise node.error(f"the text has more than {MAX_SIZE:,} characters")
        return replaced

    return _REFERENCE.sub(replace, text)


def _measure_size(node: Node) -> int:
    """Count the characters of all texts in a value, and 32 for each value."""
    if isinstance(node.value, dict):
        return sum(len(key) + _measure_size(item) for key, item in node.value.items())
    if isinstance(node.value, list):
        return 32 + sum(map(_measure_size, node.value))
    return 32 + len(node.text)


def _find_variable(name: str, node: Node, variables: Variables) -> Node:
    head, *below = name.split(".")
    if head not in variables:
        names = ", ".join(sorted(variables)) or "none"
        raise node.error(
            f"there is no variable {head!r}", f"variables: {names}; \\{{{{{name}}}}} is plain text"
        )
    variable = variables[head]
    for key in below:
        if not isinstance(variable.value, dict) or key not in variable.value:
            raise node.error(f"{{{{{name}}}}}: there is no {key!r} in it")
        variable = variable.value[key]
    return variable


def _to_scalar(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?(0|[1-9]\d*)", text) else text


def parse_variables(texts: tuple[str, ...]) -> dict[str, Node]:
    """Parse variables from `--var NAME=VALUE`; whole numbers, true and false become what they look like.

    Raises BadInput.
    """
    variables = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not re.fullmatch(_NAME, name):
            raise BadInput(f"--var {text!r} is not NAME=VALUE")
        variables[name] = Node(_to_scalar(value), "--var", 1, value)
    return variables
