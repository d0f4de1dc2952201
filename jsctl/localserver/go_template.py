"""The part of Go's templates that bundles for `server generate` use: fields, variables, if, range, with and
the functions below. Pure."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.json_text import parse_json

Function = Callable[..., Any]

_ACTION = re.compile(r"\{\{(-(?=\s))?(.*?)((?<=\s)-)?\}\}", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|`[^`]*`)|(?P<number>-?\d+(?:\.\d+)?)|(?P<path>\$\w*(?:\.\w+)*|\.\w+(?:\.\w+)*|\.)"""
    r"""|(?P<word>\w+)|(?P<mark>:=|=|\||\(|\)|,))"""
)


class TemplateError(ValueError):
    """A template is not valid, or refers to something that does not exist."""


class _Token(NamedTuple):
    kind: str
    text: str


class _Block(NamedTuple):
    """An action with its content. word: text, show, set, if, range or with. branches: each with its condition
    (None: else)."""

    word: str
    text: str = ""
    names: Sequence[str] = ()
    value: Any = None
    branches: Sequence[tuple[Any, Sequence["_Block"]]] = ()


def render(template: str, data: Any, functions: Mapping[str, Function] | None = None) -> str:
    """Return a template filled in. data: the value of `.`. functions: further ones, besides FUNCTIONS. Raises
    TemplateError."""
    blocks, rest = _parse(iter(_split(template)))
    if rest is not None:
        raise TemplateError(f"there is no block for {rest!r} to end")
    run = _Run({**FUNCTIONS, **(functions or {})})
    return "".join(run.render_blocks(blocks, data, [{"$": data}]))


def _split(template: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a template, each as its kind, "text" or "action", and its text."""
    at, trims = 0, False
    for match in _ACTION.finditer(template):
        text = template[at : match.start()]
        text = text.lstrip() if trims else text
        yield "text", text.rstrip() if match[1] else text
        yield "action", match[2].strip()
        at, trims = match.end(), bool(match[3])
    yield "text", template[at:].lstrip() if trims else template[at:]


def _parse(parts: Iterator[tuple[str, str]]) -> tuple[list[_Block], str | None]:
    """Return blocks, and the action that ended them: `end`, `else` or `else if ...`; None at the text's
    end."""
    blocks: list[_Block] = []
    for kind, text in parts:
        if kind == "text":
            blocks.append(_Block("text", text))
            continue
        if text.startswith("/*"):
            continue
        word, _, rest = text.partition(" ")
        if word in ("end", "else"):
            return blocks, text
        if word in ("if", "range", "with"):
            blocks.append(_parse_block(word, rest, parts))
        else:
            names, value = _parse_pipeline(text)
            blocks.append(_Block("set" if names else "show", text, names, value))
    return blocks, None


def _parse_block(word: str, rest: str, parts: Iterator[tuple[str, str]]) -> _Block:
    names, condition = _parse_pipeline(rest)
    branches: list[tuple[Any, Sequence[_Block]]] = []
    while True:
        inner, end_action = _parse(parts)
        branches.append((condition, inner))
        if end_action is None:
            raise TemplateError(f"{word} {rest} has no end")
        if end_action == "end":
            return _Block(word, rest, names, branches[0][0], branches)
        condition_text = end_action.removeprefix("else").strip()
        condition = _parse_pipeline(condition_text.removeprefix("if "))[1] if condition_text else None


def _parse_pipeline(text: str) -> tuple[list[str], Any]:
    """Return the variables that are set, and the pipeline: commands, each a list of operands."""
    tokens = _tokenize(text)
    names: list[str] = []
    marks = [at for at, token in enumerate(tokens) if token.text in (":=", "=")]
    if marks:
        names = [token.text for token in tokens[: marks[0]] if token.kind == "path"]
        names = [f"={name}" if tokens[marks[0]].text == "=" else name for name in names]
        tokens = tokens[marks[0] + 1 :]
    pipeline, rest = _parse_commands(tokens)
    if rest or not pipeline[0]:
        raise TemplateError(f"{{{{ {text} }}}} is not valid")
    return names, pipeline


def _tokenize(text: str) -> list[_Token]:
    tokens, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise TemplateError(f"{{{{ {text} }}}} is not valid at {text[at:].strip()!r}")
        tokens.append(_Token(str(match.lastgroup), match[str(match.lastgroup)]))
        at = match.end()
    return tokens


def _parse_commands(tokens: Sequence[_Token]) -> tuple[list[list[Any]], Sequence[_Token]]:
    commands: list[list[Any]] = [[]]
    while tokens:
        token, tokens = tokens[0], tokens[1:]
        if token.text == ")" and token.kind == "mark":
            return commands, [token, *tokens]
        if token.text == "|" and token.kind == "mark":
            commands.append([])
        elif token.text == "(" and token.kind == "mark":
            inner, tokens = _parse_commands(tokens)
            if not tokens:
                raise TemplateError("a parenthesis is not closed")
            tokens = tokens[1:]
            commands[-1].append(inner)
        else:
            commands[-1].append(token)
    return commands, tokens


class _Run:
    """The rendering of one template."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions

    def render_blocks(
        self, blocks: Sequence[_Block], dot: Any, scopes: list[dict[str, Any]]
    ) -> Iterator[str]:
        """Yield the text of blocks. scopes: variables, the innermost last."""
        for block in blocks:
            match block.word:
                case "text":
                    yield block.text
                case "show":
                    yield format_value(self._evaluate(block.value, dot, scopes))
                case "set":
                    self._set(block.names[0], self._evaluate(block.value, dot, scopes), scopes)
                case "range":
                    yield from self._render_range(block, dot, scopes)
                case _:
                    yield from self._render_branch(block, dot, scopes)

    def _render_branch(self, block: _Block, dot: Any, scopes: list[dict[str, Any]]) -> Iterator[str]:
        for condition, inner in block.branches:
            value = True if condition is None else self._evaluate(condition, dot, scopes)
            if value:
                is_with = block.word == "with" and condition is not None
                scope = {block.names[0]: value} if block.names else {}
                yield from self.render_blocks(inner, value if is_with else dot, [*scopes, scope])
                return

    def _render_range(self, block: _Block, dot: Any, scopes: list[dict[str, Any]]) -> Iterator[str]:
        value = self._evaluate(block.value, dot, scopes)
        pairs = list(value.items()) if isinstance(value, Mapping) else list(enumerate(value or ()))
        for key, item in pairs:
            names = dict(zip(block.names[::-1], (item, key), strict=False))
            yield from self.render_blocks(block.branches[0][1], item, [*scopes, names])
        if not pairs and len(block.branches) > 1:
            yield from self.render_blocks(block.branches[1][1], dot, [*scopes, {}])

    def _set(self, name: str, value: Any, scopes: list[dict[str, Any]]) -> None:
        scope = scopes[-1]
        if name.startswith("="):
            name = name[1:]
            scope = next((candidate for candidate in reversed(scopes) if name in candidate), scope)
        scope[name] = value

    def _evaluate(self, pipeline: Sequence[Sequence[Any]], dot: Any, scopes: list[dict[str, Any]]) -> Any:
        piped: tuple[Any, ...] = ()
        for command in pipeline:
            if not command:
                raise TemplateError("a pipeline has an empty part")
            first, *rest = command
            if isinstance(first, _Token) and first.kind == "word" and first.text not in _CONSTANTS:
                values = [self._evaluate_operand(operand, dot, scopes) for operand in rest]
                piped = (self._call(first.text, [*values, *piped]),)
            elif rest or piped:
                raise TemplateError(f"{getattr(first, 'text', '(')} is not a function")
            else:
                piped = (self._evaluate_operand(first, dot, scopes),)
        return piped[0]

    def _call(self, name: str, values: Sequence[Any]) -> Any:
        if name not in self._functions:
            raise TemplateError(f"there is no function {name}")
        try:
            return self._functions[name](*values)
        except TemplateError:
            raise
        except (TypeError, ValueError, KeyError, IndexError, ArithmeticError, AttributeError) as error:
            raise TemplateError(f"{name}: {error}") from None

    def _evaluate_operand(self, operand: Any, dot: Any, scopes: list[dict[str, Any]]) -> Any:
        if not isinstance(operand, _Token):
            return self._evaluate(operand, dot, scopes)
        match operand.kind:
            case "text":
                return operand.text[1:-1] if operand.text[0] == "`" else str(parse_json(operand.text))
            case "number":
                return float(operand.text) if "." in operand.text else int(operand.text)
            case "word":
                return (
                    _CONSTANTS[operand.text] if operand.text in _CONSTANTS else self._call(operand.text, [])
                )
        start, *keys = operand.text.split(".")
        value = dot
        if start:
            value = next((scope[start] for scope in reversed(scopes) if start in scope), None)
        for key in filter(None, keys):
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


_CONSTANTS = {"true": True, "false": False, "nil": None}


def format_value(value: Any) -> str:
    """Format a value as templates show it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(map(format_value, value))
    return "" if value is None else str(value)


def _set_key(mapping: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    mapping[key] = value
    return mapping


def _make_comparison(compare: Callable[[Any, Any], bool]) -> Function:
    def apply(left: Any, right: Any) -> bool:
        # An answer may be text where a template has a number.
        return compare(
            *((left, right) if type(left) is type(right) else (format_value(left), format_value(right)))
        )

    return apply


def _to_int(value: Any) -> int:
    return int(value)


FUNCTIONS: Mapping[str, Function] = {
    "eq": lambda one, *others: any(format_value(one) == format_value(other) for other in others),
    "ne": lambda one, other: format_value(one) != format_value(other),
    "lt": _make_comparison(lambda one, other: one < other),
    "le": _make_comparison(lambda one, other: one <= other),
    "gt": _make_comparison(lambda one, other: one > other),
    "ge": _make_comparison(lambda one, other: one >= other),
    "and": lambda *values: next((value for value in values if not value), values[-1]),
    "or": lambda *values: next((value for value in values if value), values[-1]),
    "not": lambda value: not value,
    "len": len,
    "index": lambda value, *keys: value if not keys else FUNCTIONS["index"](value[keys[0]], *keys[1:]),
    "print": lambda *values: "".join(map(format_value, values)),
    "printf": lambda form, *values: re.sub("%[vq]", "%s", form) % values,
    "default": lambda other, value=None: value or other,
    "ternary": lambda yes, no, value: yes if value else no,
    "quote": lambda value: json.dumps(format_value(value), ensure_ascii=False),
    "squote": lambda value: f"'{format_value(value)}'",
    "upper": lambda value: format_value(value).upper(),
    "lower": lambda value: format_value(value).lower(),
    "trim": lambda value: format_value(value).strip(),
    "replace": lambda old, new, value: format_value(value).replace(old, new),
    "contains": lambda part, value: part in format_value(value),
    "cat": lambda *values: " ".join(map(format_value, values)),
    "nospace": lambda value: "".join(format_value(value).split()),
    "join": lambda mark, values: mark.join(map(format_value, values)),
    "split": lambda mark, value: format_value(value).split(mark),
    "splitList": lambda mark, value: format_value(value).split(mark),
    "seq": lambda *ends: " ".join(
        map(
            str,
            range(*(1, _to_int(ends[0]) + 1) if len(ends) == 1 else (_to_int(ends[0]), _to_int(ends[1]) + 1)),
        )
    ),
    "until": lambda end: list(range(_to_int(end))),
    "add": lambda *values: sum(map(_to_int, values)),
    "sub": lambda one, other: _to_int(one) - _to_int(other),
    "mul": lambda one, other: _to_int(one) * _to_int(other),
    "div": lambda one, other: _to_int(one) // _to_int(other),
    "mod": lambda one, other: _to_int(one) % _to_int(other),
    "int": _to_int,
    "toString": format_value,
    "toJson": lambda value: json.dumps(value, ensure_ascii=False),
    "indent": lambda count, value: "\n".join(" " * count + line for line in format_value(value).split("\n")),
    "list": lambda *values: list(values),
    "append": lambda values, value: [*values, value],
    "dict": lambda *pairs: dict(zip(pairs[::2], pairs[1::2], strict=True)),
    "get": lambda mapping, key: mapping.get(key),
    "hasKey": lambda mapping, key: key in mapping,
    "set": _set_key,
}
"""Functions of templates: those of Go, and the most used of sprig, with sprig's order of arguments."""
