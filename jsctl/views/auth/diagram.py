"""`auth diagram`: the exports and imports of accounts as a tree, for Graphviz and for Mermaid."""

from collections.abc import Iterator
from typing import Any

from jsctl.auth.diagram import Export, Graph, Import
from jsctl.views.result import Result, Text

FORMATS = ("tree", "dot", "mermaid")


def diagram_result(graph: Graph, form: str) -> Result:
    """Show the graph. form: one of FORMATS."""
    draw = {"tree": _draw_tree, "dot": _draw_dot, "mermaid": _draw_mermaid}[form]
    text = Text("\n".join(draw(graph)), whole=form != "tree", drawn=form == "tree")
    return Result([text], data=_document(graph))


def _draw_tree(graph: Graph) -> Iterator[str]:
    yield graph.operator
    for at, account in enumerate(graph.accounts):
        last = at == len(graph.accounts) - 1
        yield f"{'└── ' if last else '├── '}{account}"
        lines = list(_account_lines(graph, account))
        for number, (line, below) in enumerate(lines):
            head = "    " if last else "│   "
            end = number == len(lines) - 1
            yield f"{head}{'└── ' if end else '├── '}{line}"
            rest = f"{head}{'    ' if end else '│   '}"
            for place, text in enumerate(below):
                yield f"{rest}{'└── ' if place == len(below) - 1 else '├── '}{text}"


def _account_lines(graph: Graph, account: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of an account, each with those below it: exports with their importers, then imports."""
    for at, one in enumerate(graph.exports):
        if one.account == account:
            takers = [f"to {_taker(each)}" for each in graph.imports if each.export == at]
            yield f"exports {_offer(one)}", takers
    for each in graph.imports:
        if each.account == account:
            lost = f", which does not work: it {each.problem}" if each.problem else ""
            yield f"imports {each.kind} {each.remote} of {each.origin}{_renamed(each)}{lost}", []


def _taker(one: Import) -> str:
    return f"{one.account}{_renamed(one)}{' (does not work)' if one.problem else ''}"


def _renamed(one: Import) -> str:
    return f" as {one.local}" if one.local != one.remote else ""


def _offer(one: Export) -> str:
    return f"{one.kind} {one.subject}{f' ({one.token})' if one.token else ''}"


def _draw_dot(graph: Graph) -> Iterator[str]:
    yield f"digraph {_quote(graph.operator)} {{"
    yield "  rankdir=LR;"
    yield "  node [shape=box];"
    for name, key in _nodes(graph).items():
        style = "" if name in graph.accounts else ", style=dashed"
        yield f"  {key} [label={_quote(name)}{style}];"
    for at, one in enumerate(graph.exports):
        shape = "ellipse" if one.kind == "service" else "oval"
        style = ", style=dashed" if one.token else ""
        yield f"  e{at} [label={_quote(_offer(one))}, shape={shape}{style}];"
        yield f"  {_nodes(graph)[one.account]} -> e{at} [arrowhead=none];"
    for each in graph.imports:
        source = f"e{each.export}" if each.export >= 0 else _nodes(graph)[each.origin]
        label = each.local if each.local != each.remote else "" if each.export >= 0 else each.remote
        broken = ", color=red, style=dashed" if each.problem else ""
        yield f"  {source} -> {_nodes(graph)[each.account]} [label={_quote(label)}{broken}];"
    yield "}"


def _draw_mermaid(graph: Graph) -> Iterator[str]:
    yield "flowchart LR"
    for name, key in _nodes(graph).items():
        yield f"  {key}[{_text(name)}]"
    for at, one in enumerate(graph.exports):
        yield f"  e{at}([{_text(_offer(one))}])"
        yield f"  {_nodes(graph)[one.account]} --- e{at}"
    for each in graph.imports:
        source = f"e{each.export}" if each.export >= 0 else _nodes(graph)[each.origin]
        label = each.local if each.local != each.remote else "" if each.export >= 0 else each.remote
        arrow = "-.->" if each.problem else "-->"
        yield f"  {source} {arrow}{f'|{_text(label)}|' if label else ''} {_nodes(graph)[each.account]}"


def _nodes(graph: Graph) -> dict[str, str]:
    """Return a node key for each account, including those that the store does not have."""
    names = [*graph.accounts, *(one.origin for one in graph.imports)]
    return {name: f"a{at}" for at, name in enumerate(dict.fromkeys(names))}


def _quote(text: str) -> str:
    """Return a text as a quoted string of Graphviz."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{"".join(c if c.isprintable() else " " for c in escaped)}"'


def _text(text: str) -> str:
    """Return a text as a quoted string of Mermaid, with everything escaped that could be markup."""
    plain = "".join(c if c.isalnum() or c in " ._-" else f"#{ord(c)};" for c in text)
    return f'"{plain}"'


def _document(graph: Graph) -> dict[str, Any]:
    return {
        "operator": graph.operator,
        "accounts": graph.accounts,
        "exports": [
            {
                "account": one.account,
                "subject": one.subject,
                "type": one.kind,
                "name": one.name,
                "restricted": one.token,
            }
            for one in graph.exports
        ],
        "imports": [
            {
                "account": one.account,
                "from": one.origin,
                "type": one.kind,
                "subject": one.remote,
                "local_subject": one.local,
                "problem": one.problem,
            }
            for one in graph.imports
        ],
    }
