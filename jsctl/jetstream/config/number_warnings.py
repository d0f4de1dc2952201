"""Numbers in files that YAML or the server reads otherwise than people."""

import re
from collections.abc import Iterator

from jsctl.base.units import MS, pluralize
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.numbers import Duration, Number
from jsctl.jetstream.config.schema import Object


def find_number_warnings(kind: Object, node: Node) -> Iterator[str]:
    """Yield a warning, with file and line, for each such number of an object and of those below it."""
    for key, member in node.as_object("this").items():
        below = kind.kinds.get(key)
        if isinstance(below, Object) and isinstance(member.value, dict):
            yield from find_number_warnings(below, member)
        if not isinstance(below, Number) or type(member.value) is not int:
            continue
        text, number = member.text, member.value
        place = f"{member.file}:{member.line}: {key}: {text}"
        if re.fullmatch(r"[-+]?0[0-7_]+", text):
            yield f"{place} is octal in YAML, {number}"
        elif ":" in text:
            yield f"{place} is a number of base 60 in YAML, {number}"
        elif isinstance(below, Duration) and 0 < number < MS:
            yield f"{place} is {pluralize(number, 'nanosecond')}; write a unit such as {text}s"
