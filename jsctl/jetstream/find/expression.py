"""A small, safe expression language over JSON, modelled on that of the `nats` tool (expr-lang.org).

`state.messages > 10 and config.storage == "memory"`, `info.cluster.name in ["lon", "sfo"]`. It has
or || and && not ! == != < <= > >= in, not in, contains, startsWith, endsWith, matches (a regular
expression), + - * / %, len(x), lists, `a.b`, `a["b"]`, `a[0]`, true, false, nil, durations such as `90s`, in
ns, sizes such as `1GB`, in bytes. The server leaves out values that are zero, empty or false; a missing field
therefore equals all of these.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from jsctl.base.patterns import compile_pattern
from jsctl.base.units import parse_bytes, parse_duration
from jsctl.errors import BadInput
from jsctl.jetstream.find.expression_nodes import (
    COMPARISONS,
    FUNCTIONS,
    ORDERS,
    WORDS,
    Names,
    Node,
    build_and,
    build_arithmetic,
    build_comparison,
    build_name,
    build_negation,
    build_or,
    build_step,
)

_TOKEN = (
    r"\s*(?:(?P<duration>(?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|[smhdDwWMyY]))+(?!\w))"
    r"|(?P<size>\d+[KMGTPEkmgtpe]i?[Bb](?!\w))"
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<mark>\|\||&&|==|!=|<=|>=|\?\.|[-!<>+*/%()\[\],.]))"
)
_CONSTANTS = {
    **{"true": True, "false": False, "nil": None, "null": None},
    **{"True": True, "False": False, "None": None},
}
_MAX_DEPTH = 50
EQUALITY = "values are compared with =="
"""What to do about a single =, the likeliest mistake."""


class Part(NamedTuple):
    """A part of an expression. text: as it was written."""

    text: str
    node: Node


class Comparison(NamedTuple):
    """A comparison of two sides. names: all that it asks for. units: `duration`, `size` and `number`,
    for each that is written in it."""

    operator: str
    sides: tuple[Part, Part]
    node: Node
    names: frozenset[str]
    units: frozenset[str]


class Condition:
    """A compiled condition. text: as it was written. names: all that it asks for. alternatives: what its
    outermost `or` separates. operands: those of `and`, `or` and `not`."""

    def __init__(
        self,
        text: str,
        node: Node,
        names: frozenset[str],
        alternatives: Sequence["Condition"] = (),
        comparisons: Sequence[Comparison] = (),
        operands: Sequence[Part] = (),
    ) -> None:
        self.text = text
        self._node = node
        self.names = names
        self.comparisons = comparisons
        self.operands = operands
        self.alternatives = alternatives or (self,)

    def __call__(self, names: Names) -> bool:
        try:
            value = self._node(names)
        except RecursionError:
            raise ValueError("the expression is nested too deeply") from None
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
    names = frozenset(parser.names)
    return Condition(text, node, names, parser.alternatives, parser.comparisons, parser.operands)


class _Parser:
    """A recursive descent parser: operators that bind loosest come first."""

    def __init__(self, text: str, phrases: Collection[str] = (), *, orders_missing: bool = True) -> None:
        self._text = text
        self._phrases = phrases
        self._orders_missing = orders_missing
        self.names: set[str] = set()
        self.comparisons: list[Comparison] = []
        self.operands: list[Part] = []
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
        if excerpt.startswith("="):
            return ValueError(f"cannot read the expression at {excerpt!r}; {EQUALITY}")
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
        node = self._parse_operands(self._parse_alternative, ("or", "||"), build_or)
        self._depth -= 1
        return node

    def _parse_alternative(self) -> Node:
        if self._depth > 1:
            return self._parse_and()
        names_before, self.names = self.names, set()
        node = self._parse_and()
        self.alternatives.append(Condition(self._text, node, frozenset(self.names)))
        self.names |= names_before
        return node

    def _parse_and(self) -> Node:
        return self._parse_operands(self._parse_not, ("and", "&&"), build_and)

    def _parse_operands(
        self, parse: Callable[[], Node], operators: Sequence[str], build: Callable[[Sequence[Node]], Node]
    ) -> Node:
        """Parse conditions that operators separate; one alone need not be a condition."""
        parts: list[Part] = []
        while True:
            first = self._next
            node = parse()
            parts.append(self._cut(first, self._next, node))
            if not self._take(*operators):
                break
        if len(parts) == 1:
            return parts[0].node
        self.operands += parts
        return build([part.node for part in parts])

    def _parse_not(self) -> Node:
        negated = False
        while self._take("not", "!"):
            negated = not negated
        first = self._next
        node = self._parse_comparison()
        self.operands += [self._cut(first, self._next, node)] if negated else []
        return build_negation(node) if negated else node

    def _parse_comparison(self) -> Node:
        first = self._next
        left = self._parse_sum()
        while True:
            end = self._next
            negated = self._peek() == "not" and self._peek(1) in COMPARISONS
            self._next += negated
            operator = self._take(*COMPARISONS)
            if not operator:
                return left
            is_false_if_missing = operator in ORDERS and not self._orders_missing
            second = self._next
            right = self._parse_sum()
            if operator == "matches" and [token.kind for token in self._tokens[second : self._next]] == [
                "text"
            ]:
                _check_pattern(right({}))
            node = build_comparison(operator, left, right, is_false_if_missing)
            tokens = self._tokens[first : self._next]
            self.comparisons.append(
                Comparison(
                    operator,
                    (self._cut(first, end, left), self._cut(second, self._next, right)),
                    node,
                    frozenset(self._join(at) for at in range(first, self._next)),
                    frozenset(token.kind for token in tokens if token.text.strip("0.")) - {"word", "mark"},
                )
            )
            left = build_negation(node) if negated else node

    def _cut(self, first: int, end: int, node: Node) -> Part:
        """Return the part between two tokens, as it was written."""
        last = self._tokens[end].at if end < len(self._tokens) else len(self._text)
        return Part(self._text[self._tokens[first].at : last].strip(), node)

    def _parse_sum(self) -> Node:
        return self._parse_calculation(self._parse_product, ("+", "-"))

    def _parse_product(self) -> Node:
        return self._parse_calculation(self._parse_unary, ("*", "/", "%"))

    def _parse_calculation(self, parse: Callable[[], Node], operators: Sequence[str]) -> Node:
        first, more = parse(), list[tuple[str, Node]]()
        while operator := self._take(*operators):
            more.append((operator, parse()))
        return build_arithmetic(first, more) if more else first

    def _parse_unary(self) -> Node:
        if self._take("-"):
            return build_arithmetic(lambda names: 0, [("-", self._parse_steps())])
        return self._parse_steps()

    def _parse_steps(self) -> Node:
        node = self._parse_atom()
        while True:
            if self._take(".", "?."):
                node = build_step(node, self._build_constant(self._parse_word()))
            elif self._take("["):
                key = self._parse_or()
                self._expect("]")
                node = build_step(node, key)
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
        if token.kind == "size":
            return self._build_constant(parse_bytes(token.text))
        if token.kind == "text":
            body = token.text[1:-1]
            return self._build_constant(body if token.text[0] == "`" else re.sub(r"\\(.)", r"\1", body))
        if token.text == "(":
            node = self._parse_or()
            self._expect(")")
            return node
        if token.text == "[":
            return self._parse_list()
        if token.kind == "word" and token.text not in WORDS:
            if token.text in _CONSTANTS:
                return self._build_constant(_CONSTANTS[token.text])
            if self._take("("):
                return self._parse_call(token.text)
            name = self._join(self._next - 1)
            self._next += name != token.text
            self.names.add(name)
            return build_name(name)
        raise self._syntax_error(token.at)

    def _parse_call(self, name: str) -> Node:
        if name not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            raise ValueError(f"the expression has an unknown function {name!r}; it may have {known}")
        function, node = FUNCTIONS[name], self._parse_or()
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


def _check_pattern(text: str) -> None:
    """Raise ValueError for a regular expression that is none."""
    try:
        compile_pattern(text)
    except BadInput as error:
        raise ValueError(str(error)) from None
