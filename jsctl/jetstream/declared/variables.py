"""Variables and loops of declared files: `{{name}}` in any text, `for: {i: 0..9}` on a stream or consumer.

There is nothing to run: a name is replaced by its value, `{{site.region}}` by what is below it. The server's
own `{{wildcard(1)}}` and its like stay as they are, and `\\{{name}}` is the text `{{name}}`.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsctl.errors import BadInput
from jsctl.jetstream.declared.nodes import Node

Variables = Mapping[str, Node]

MOST = 10_000
"""Streams or consumers that one loop may make."""

_NAME = r"[A-Za-z_]\w*"
_PLACE = re.compile(rf"(\\*)\{{\{{\s*({_NAME}(?:\.{_NAME})*)\s*\}}\}}")
_ANY_BRACES = re.compile(rf"(\\*)(\{{\{{\s*{_NAME}(?:\.{_NAME})*\s*\}}\}})")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


def expand(node: Node, known: Variables) -> Node:
    """A copy with every variable replaced. Text that is one variable takes its value whole, a number or list
    too. Raises BadInput for names that nobody set."""
    if isinstance(node.value, dict):
        made = {_text(key, node, known): expand(value, known) for key, value in node.value.items()}
        return node._replace(value=made)
    if isinstance(node.value, list):
        return node._replace(value=[expand(one, known) for one in node.value])
    if not isinstance(node.value, str) or "{{" not in node.value:
        return node
    whole = _PLACE.fullmatch(node.value)
    if whole and not whole[1]:
        found = _lookup(whole[2], node, known)
        return found._replace(file=node.file, line=node.line)
    text = _text(node.value, node, known)
    return node._replace(value=text, text=text)


def escape(text: str) -> str:
    """Text that `expand` turns into this one."""
    return _ANY_BRACES.sub(lambda m: m[1] * 2 + "\\" + m[2], text)


def settled(variables: Node, above: Variables) -> dict[str, Node]:
    """A file's variables, which may use those before them; `above` wins. Raises BadInput."""
    found: dict[str, Node] = {}
    for name, node in variables.keys("vars").items():
        if not re.fullmatch(_NAME, name):
            raise node.error(f"{name!r} is no name of a variable", "letters, digits and _")
        found[name] = above[name] if name in above else expand(node, {**above, **found})
    return {**above, **found}


def rounds(loop: Node | None, known: Variables) -> Iterator[dict[str, Node]]:
    """The variables of each round of a loop; several variables make every combination, the last one fastest.

    A value is a range `0..9` (`00..09` keeps the zeros) or a list. Raises BadInput.
    """
    if loop is None:
        yield dict(known)
        return
    names, values, total = [], [], 1
    for name, node in loop.keys("for").items():
        if not re.fullmatch(_NAME, name):
            raise node.error(f"{name!r} is no name of a variable", "letters, digits and _")
        span = expand(node, known)
        names.append(name)
        values.append(_values(span))
        total *= len(values[-1])
        if total > MOST:
            raise node.error(f"the loop makes more than {MOST:,}")
    for combination in itertools.product(*values):
        yield {**known, **dict(zip(names, combination, strict=True))}


def _values(node: Node) -> list[Node]:
    if isinstance(node.value, list):
        return node.value
    match = _RANGE.fullmatch(str(node.value).strip())
    if not match:
        raise node.error("a loop goes over a range such as 0..9 or a list")
    first, last = int(match[1]), int(match[2])
    if last - first >= MOST:
        raise node.error(f"the loop makes more than {MOST:,}")
    width = len(match[1]) if match[1].startswith("0") else 0
    numbers = range(first, last + 1) if first <= last else range(first, last - 1, -1)
    if len(numbers) > MOST:
        raise node.error(f"the loop makes more than {MOST:,}")
    return [node._replace(value=n if width < 2 else f"{n:0{width}}", text=f"{n:0{width}}") for n in numbers]


def _text(text: str, node: Node, known: Variables) -> str:
    def value(match: re.Match[str]) -> str:
        marks = match[1]
        kept = "\\" * (len(marks) // 2)
        if len(marks) % 2:
            return kept + match[0][len(marks) :]
        found = _lookup(match[2], node, known)
        if isinstance(found.value, (dict, list)) or found.value is None:
            raise node.error(f"{{{{{match[2]}}}}} is no text")
        return kept + found.text

    return _PLACE.sub(value, text)


def _lookup(name: str, node: Node, known: Variables) -> Node:
    head, *below = name.split(".")
    if head not in known:
        names = ", ".join(sorted(known)) or "none"
        raise node.error(f"no variable {head!r}", f"there is {names}; \\{{{{{name}}}}} is plain text")
    found = known[head]
    for key in below:
        if not isinstance(found.value, dict) or key not in found.value:
            raise node.error(f"{{{{{name}}}}}: there is no {key!r}")
        found = found.value[key]
    return found


def _typed(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?(0|[1-9]\d*)", text) else text


def from_flags(texts: tuple[str, ...]) -> dict[str, Node]:
    """Variables from `--var NAME=VALUE`; whole numbers, true and false are what they look like.

    Raises BadInput.
    """
    found = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not re.fullmatch(_NAME, name):
            raise BadInput(f"--var {text!r} is not NAME=VALUE")
        found[name] = Node(_typed(value), "--var", 1, value)
    return found
