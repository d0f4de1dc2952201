"""A small, safe expression language over JSON, modelled on that of the `nats` tool (expr-lang.org).

`state.messages > 10 and config.storage == "memory"`, `info.cluster.name in ["lon", "sfo"]`. It has
or || and && not ! == != < <= > >= in, not in, contains, startsWith, endsWith, matches (a regular
expression), + - * / %, len(x), lists, `a.b`, `a["b"]`, `a[0]`, true, false, nil, durations such as `90s`, in
ns. The server leaves out values that are zero, empty or false; a missing field therefore equals all of these.
"""

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.patterns import compile_pattern
from jsctl.base.units import parse_duration
from jsctl.errors import BadInput

Names = Mapping[str, Any]
Node = Callable[[Names], Any]

_TOKEN = (
    r"\s*(?:(?P<duration>(?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|[smhdDwWMyY]))+(?!\w))"
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<mark>\|\||&&|==|!=|<=|>=|\?\.|[-!<>+*/%()\[\],.]))"
)
_CONSTANTS = {
    **{"true": True, "false": False, "nil": None, "null": None},
    **{"True": True, "False": False, "None": None},
}
_MAX_DEPTH = 50


class Comparison(NamedTuple):
    """The two sides of a comparison. names: all that it asks for. units: `duration` and `number`, for each
    that is written in it."""

    names: frozenset[str]
    units: frozenset[str]


class Condition:
    """A compiled condition. text: as it was written. names: all that it asks for. alternatives: what its
    outermost `or` separates."""

    def __init__(
        self,
        text: str,
        node: Node,
        names: frozenset[str],
        alternatives: Sequence["Condition"] = (),
        comparisons: Sequence[Comparison] = (),
    ) -> None:
        self.text = text
        self._node = node
        self.names = names
        self.comparisons = comparisons
        self.alternatives = alternatives or (self,)

    def __call__(self, names: Names) -> bool:
        value = self._node(names)
        if value is not None and not isinstance(value, bool):
            raise ValueError(f"{self.text!r} is not a condition: its value is {value!r}")
        return bool(value)


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def compile_expression(text: str, phrases: Collection[str] = (), *, orders_missing: bool = True) -> Condition:
    """Return a function that evaluates a condition for the values of some names.

    phrases: names that may also be written as two words, such as `peer_offline`. orders_missing: whether
    < <= > >= take a missing value for zero; else it is neither less nor more than anything.

    Raises ValueError with the position of a syntax error. The function raises ValueError when the result is
    neither true nor false, or when values of different types are compared.
    """
    parser = _Parser(text, phrases, orders_missing=orders_missing)
    node = parser.parse()
    return Condition(text, node, frozenset(parser.names), parser.alternatives, parser.comparisons)


class _Parser:
    """A recursive descent parser: operators that bind loosest come first."""

    def __init__(self, text: str, phrases: Collection[str] = (), *, orders_missing: bool = True) -> None:
        self._text = text
        self._phrases = phrases
        self._orders_missing = orders_missing
        self.names: set[str] = set()
        self.comparisons: list[Comparison] = []
        self.alternatives: list[Condition] = []
        self._tokens: list[_Token] = []
        self._next = 0
        self._depth = 0
        place, pattern = 0, re.compile(_TOKEN)
        body = text.rstrip()
        while place < len(body):
            match = pattern.match(body, place)
            if match is None:
                raise self._syntax_error(place)
            kind = str(match.lastgroup)
            self._tokens.append(_Token(kind, match[kind], match.start(kind)))
            place = match.end()

    def parse(self) -> Node:
        node = self._parse_or()
        if self._next < len(self._tokens):
            raise self._syntax_error(self._tokens[self._next].at)
        return node

    def _syntax_error(self, at: int) -> ValueError:
        excerpt = self._text[at : at + 20].strip()
        return ValueError(
            f"cannot read the expression at {excerpt!r}" if excerpt else "the expression is incomplete"
        )

    def _peek(self, ahead: int = 0) -> str:
        """Return the next operator, mark or word; empty for anything else."""
        place = self._next + ahead
        if place >= len(self._tokens) or self._tokens[place].kind not in ("mark", "word"):
            return ""
        return self._tokens[place].text

    def _take(self, *texts: str) -> str:
        if (text := self._peek()) and text in texts:
            self._next += 1
            return text
        return ""

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise self._syntax_error(self._find_place())

    def _find_place(self) -> int:
        """Return where the next token begins."""
        return self._tokens[self._next].at if self._next < len(self._tokens) else len(self._text)

    def _parse_or(self) -> Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError(f"the expression is nested too deeply, at most {_MAX_DEPTH} levels are valid")
        left = self._parse_alternative()
        while self._take("or", "||"):
            left = _build_or(left, self._parse_alternative())
        self._depth -= 1
        return left

    def _parse_alternative(self) -> Node:
        if self._depth > 1:
            return self._parse_and()
        names_before, self.names = self.names, set()
        node = self._parse_and()
        self.alternatives.append(Condition(self._text, node, frozenset(self.names)))
        self.names |= names_before
        return node

    def _parse_and(self) -> Node:
        left = self._parse_not()
        while self._take("and", "&&"):
            left = _build_and(left, self._parse_not())
        return left

    def _parse_not(self) -> Node:
        negated = False
        while self._take("not", "!"):
            negated = not negated
        node = self._parse_comparison()
        return _build_negation(node) if negated else node

    def _parse_comparison(self) -> Node:
        first = self._next
        left = self._parse_sum()
        while True:
            negated = self._peek() == "not" and self._peek(1) in _COMPARISONS
            self._next += negated
            operator = self._take(*_COMPARISONS)
            if not operator:
                return left
            is_false_if_missing = operator in _ORDERS and not self._orders_missing
            node = _build_comparison(operator, left, self._parse_sum(), is_false_if_missing)
            tokens = self._tokens[first : self._next]
            self.comparisons.append(
                Comparison(
                    frozenset(self._join(at) for at in range(first, self._next)),
                    frozenset(token.kind for token in tokens if token.text.strip("0.")) - {"word", "mark"},
                )
            )
            left = _build_negation(node) if negated else node

    def _parse_sum(self) -> Node:
        left = self._parse_product()
        while operator := self._take("+", "-"):
            left = _build_arithmetic(operator, left, self._parse_product())
        return left

    def _parse_product(self) -> Node:
        left = self._parse_unary()
        while operator := self._take("*", "/", "%"):
            left = _build_arithmetic(operator, left, self._parse_unary())
        return left

    def _parse_unary(self) -> Node:
        if self._take("-"):
            return _build_arithmetic("-", lambda names: 0, self._parse_steps())
        return self._parse_steps()

    def _parse_steps(self) -> Node:
        node = self._parse_atom()
        while True:
            if self._take(".", "?."):
                node = _build_step(node, self._build_constant(self._parse_word()))
            elif self._take("["):
                key = self._parse_or()
                self._expect("]")
                node = _build_step(node, key)
            else:
                return node

    def _parse_word(self) -> str:
        if self._next < len(self._tokens) and self._tokens[self._next].kind == "word":
            self._next += 1
            return self._tokens[self._next - 1].text
        raise self._syntax_error(self._find_place())

    def _parse_atom(self) -> Node:
        if self._next >= len(self._tokens):
            raise self._syntax_error(len(self._text))
        token = self._tokens[self._next]
        self._next += 1
        if token.kind == "number":
            return self._build_constant(
                float(token.text) if re.search(r"[.eE]", token.text) else int(token.text)
            )
        if token.kind == "duration":
            return self._build_constant(parse_duration(token.text))
        if token.kind == "text":
            body = token.text[1:-1]
            return self._build_constant(body if token.text[0] == "`" else re.sub(r"\\(.)", r"\1", body))
        if token.text == "(":
            node = self._parse_or()
            self._expect(")")
            return node
        if token.text == "[":
            return self._parse_list()
        if token.kind == "word" and token.text not in _WORDS:
            if token.text in _CONSTANTS:
                return self._build_constant(_CONSTANTS[token.text])
            if self._take("("):
                return self._parse_call(token.text)
            name = self._join(self._next - 1)
            self._next += name != token.text
            self.names.add(name)
            return _build_name(name)
        raise self._syntax_error(token.at)

    def _parse_call(self, name: str) -> Node:
        if name not in _FUNCTIONS:
            known = ", ".join(_FUNCTIONS)
            raise ValueError(f"the expression has an unknown function {name!r}; it may have {known}")
        function, node = _FUNCTIONS[name], self._parse_or()
        self._expect(")")
        return lambda names: function(node(names))

    def _join(self, at: int) -> str:
        """Return the name that begins at a token, of one word or two."""
        words = [token.text for token in self._tokens[at : at + 2] if token.kind == "word"]
        return name if (name := "_".join(words)) in self._phrases else self._tokens[at].text

    def _parse_list(self) -> Node:
        items: list[Node] = []
        while not self._take("]"):
            if items:
                self._expect(",")
            items.append(self._parse_or())
        return lambda names: [item(names) for item in items]

    @staticmethod
    def _build_constant(value: Any) -> Node:
        return lambda names: value


def _build_name(name: str) -> Node:
    def value(names: Names) -> Any:
        try:
            return names[name]
        except KeyError:
            raise ValueError(f"unknown name {name!r}; the names are {', '.join(names)}") from None

    return value


def _build_step(node: Node, key: Node) -> Node:
    def value(names: Names) -> Any:
        container, index = node(names), key(names)
        if isinstance(container, dict | Mapping) and isinstance(index, Hashable):
            return container.get(index)
        if isinstance(container, list) and isinstance(index, int):
            return container[index] if -len(container) <= index < len(container) else None
        if container is None:
            return None
        raise ValueError(f"{container!r} has no {index!r}")

    return value


_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "len": lambda value: len(value) if isinstance(value, (str, list, Mapping)) else 0,
}
"""Functions of one value, by name."""


def _build_and(left: Node, right: Node) -> Node:
    def value(names: Names) -> bool:
        one = left(names)
        return one is not False and _to_truth(one) and _to_truth(right(names))

    return value


def _build_or(left: Node, right: Node) -> Node:
    return lambda names: _to_truth(left(names)) or _to_truth(right(names))


def _build_negation(node: Node) -> Node:
    return lambda names: not _to_truth(node(names))


def _to_truth(value: Any) -> bool:
    """Return a value as a boolean; a missing switch is off. Raises ValueError."""
    if value is None or isinstance(value, bool):
        return bool(value)
    raise ValueError(f"{value!r} is neither true nor false")


def _build_comparison(operator: str, left: Node, right: Node, is_false_if_missing: bool) -> Node:
    compare = _COMPARISONS[operator]

    def value(names: Names) -> bool:
        one, other = left(names), right(names)
        if one is None or other is None:
            if is_false_if_missing:
                return False
            one, other = _zero_if_missing(one, other), _zero_if_missing(other, one)
        try:
            return bool(compare(one, other))
        except (TypeError, AttributeError):
            raise ValueError(f"cannot compare {one!r} {operator} {other!r}") from None
        except BadInput as error:
            raise ValueError(str(error)) from None

    return value


def _zero_if_missing(value: Any, other: Any) -> Any:
    """Return a value; if it is missing, the zero of the type that it is compared with."""
    return type(other)() if value is None and isinstance(other, (bool, int, float, str, list)) else value


def _is_equal(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": _is_equal,
    "!=": lambda one, other: not _is_equal(one, other),
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "in": lambda one, other: one in (other or []),
    "contains": lambda one, other: other in (one or []),
    "startsWith": lambda one, other: one.startswith(other),
    "endsWith": lambda one, other: one.endswith(other),
    "matches": lambda one, other: compile_pattern(other).search(one) is not None,
}
_ORDERS = frozenset({"<", "<=", ">", ">="})
_WORDS = frozenset({"or", "and", "not", *_COMPARISONS})


def _build_arithmetic(operator: str, left: Node, right: Node) -> Node:
    def value(names: Names) -> Any:
        one, other = left(names), right(names)
        try:
            return _ARITHMETIC[operator](one or 0, other or 0)
        except (TypeError, ZeroDivisionError):
            raise ValueError(f"cannot calculate {one!r} {operator} {other!r}") from None

    return value


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": lambda one, other: one / other,
    "%": lambda one, other: one % other,
}
