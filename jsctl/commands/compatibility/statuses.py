"""Lines of a shell script that compare the status of a call with 1, which is every failure of `nats`."""

import re
from collections.abc import Callable, Iterator, Sequence, Set

_KEPT = re.compile(r"(?<![\w$])(\w+)=[\"']?\$\?")
_ONE = re.compile(r"(?P<before>^|\besac\b|\bin\b|;;|[;(])(?P<space>\s*)[\"']?1[\"']?(?=\s*\))")
_OTHERS = {"-eq": "-ne", "=": "!=", "==": "!=", "-ne": "-eq", "!=": "="}


def find_comparisons(lines: Sequence[str], ends: Set[int]) -> Iterator[tuple[int, Callable[[str], str]]]:
    """Yield the number of each line that compares the status of a call with 1, and what changes it to a test
    for any failure.

    ends: numbers of the lines on which calls end.
    """
    kept: set[str] = set()
    in_case = False
    for number, line in enumerate(lines, 1):
        is_after = bool({number, number - 1, number - 2} & ends)
        if is_after:
            kept.update(_KEPT.findall(line))
        names = "|".join([*map(re.escape, sorted(kept)), *([r"\?"] if is_after else [])])
        if names:
            status = rf"\$(?:(?:{names})|\{{(?:{names})\}})"
            compared = re.compile(rf"({status}[\"']?\s*)(-eq|-ne|==?|!=)(\s*[\"']?)1\b")
            if compared.search(line):
                yield number, _make_change(compared)
            in_case = in_case or bool(re.search(rf"\bcase\s+[\"']?{status}[\"']?\s+in\b", line))
        if in_case and _ONE.search(line):
            yield number, lambda text: _ONE.sub(r"\g<before>\g<space>[1-9]*", text)
        in_case = in_case and "esac" not in line


def _make_change(compared: re.Pattern[str]) -> Callable[[str], str]:
    def change(text: str) -> str:
        equal = "==" if "((" in text else "="
        return compared.sub(
            lambda one: f"{one[1]}{equal if one[2] == '!=' else _OTHERS[one[2]]}{one[3]}0", text
        )

    return change
