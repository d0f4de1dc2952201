"""`jsctl auth diagram`."""

from collections.abc import Iterator
from typing import Any

import click

from jsctl.auth.diagram import Export, Graph, Import, make_graph
from jsctl.auth.environment import read_environment
from jsctl.commands.cli import command, option
from jsctl.commands.picking.auth import operator_option, pick_operator
from jsctl.env import Env
from jsctl.views.result import Result, Text
from jsctl.views.shared.text import quote_for_dot

_FORMATS = ("tree", "dot", "mermaid")


def _show_diagram_result(graph: Graph, form: str) -> Result:
    """Show the graph. form: one of FORMATS."""
    draw = {"tree": _draw_tree, "dot": _draw_dot, "mermaid": _draw_mermaid}[form]
    text = Text("\n".join(draw(graph)), whole=form != "tree", drawn=form == "tree")
    return Result([text], data=_build_document(graph))


def _draw_tree(graph: Graph) -> Iterator[str]:
    yield graph.operator
    for index, account in enumerate(graph.accounts):
        last = index == len(graph.accounts) - 1
        yield f"{'└── ' if last else '├── '}{account}"
        lines = list(_list_account_lines(graph, account))
        for number, (line, below) in enumerate(lines):
            head = "    " if last else "│   "
            end = number == len(lines) - 1
            yield f"{head}{'└── ' if end else '├── '}{line}"
            indent = f"{head}{'    ' if end else '│   '}"
            for place, text in enumerate(below):
                yield f"{indent}{'└── ' if place == len(below) - 1 else '├── '}{text}"


def _list_account_lines(graph: Graph, account: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of an account, each with those below it: exports with their importers, then imports."""
    for index, export in enumerate(graph.exports):
        if export.account == account:
            importers = [f"to {_format_importer(claim)}" for claim in graph.imports if claim.export == index]
            yield f"exports {_format_export(export)}", importers
    for claim in graph.imports:
        if claim.account == account:
            problem = f", which does not work: it {claim.problem}" if claim.problem else ""
            yield (
                f"imports {claim.kind} {claim.remote} of {claim.origin}{_format_local_name(claim)}{problem}",
                [],
            )


def _format_importer(claim: Import) -> str:
    return f"{claim.account}{_format_local_name(claim)}{' (does not work)' if claim.problem else ''}"


def _format_local_name(claim: Import) -> str:
    return f" as {claim.local}" if claim.local != claim.remote else ""


def _format_export(export: Export) -> str:
    return f"{export.kind} {export.subject}{f' ({export.token})' if export.token else ''}"


def _draw_dot(graph: Graph) -> Iterator[str]:
    yield f"digraph {quote_for_dot(graph.operator)} {{"
    yield "  rankdir=LR;"
    yield "  node [shape=box];"
    for name, key in _number_nodes(graph).items():
        style = "" if name in graph.accounts else ", style=dashed"
        yield f"  {key} [label={quote_for_dot(name)}{style}];"
    for index, export in enumerate(graph.exports):
        shape = "ellipse" if export.kind == "service" else "oval"
        style = ", style=dashed" if export.token else ""
        yield f"  e{index} [label={quote_for_dot(_format_export(export))}, shape={shape}{style}];"
        yield f"  {_number_nodes(graph)[export.account]} -> e{index} [arrowhead=none];"
    for claim in graph.imports:
        source = f"e{claim.export}" if claim.export >= 0 else _number_nodes(graph)[claim.origin]
        label = claim.local if claim.local != claim.remote else "" if claim.export >= 0 else claim.remote
        broken = ", color=red, style=dashed" if claim.problem else ""
        yield f"  {source} -> {_number_nodes(graph)[claim.account]} [label={quote_for_dot(label)}{broken}];"
    yield "}"


def _draw_mermaid(graph: Graph) -> Iterator[str]:
    yield "flowchart LR"
    for name, key in _number_nodes(graph).items():
        yield f"  {key}[{_quote_for_mermaid(name)}]"
    for index, export in enumerate(graph.exports):
        yield f"  e{index}([{_quote_for_mermaid(_format_export(export))}])"
        yield f"  {_number_nodes(graph)[export.account]} --- e{index}"
    for claim in graph.imports:
        source = f"e{claim.export}" if claim.export >= 0 else _number_nodes(graph)[claim.origin]
        label = claim.local if claim.local != claim.remote else "" if claim.export >= 0 else claim.remote
        arrow = "-.->" if claim.problem else "-->"
        note = f"|{_quote_for_mermaid(label)}|" if label else ""
        yield f"  {source} {arrow}{note} {_number_nodes(graph)[claim.account]}"


def _number_nodes(graph: Graph) -> dict[str, str]:
    """Return a node key for each account, including those that the store does not have."""
    names = [*graph.accounts, *(claim.origin for claim in graph.imports)]
    return {name: f"a{index}" for index, name in enumerate(dict.fromkeys(names))}


def _quote_for_mermaid(text: str) -> str:
    """Return a text as a quoted string of Mermaid, with everything escaped that could be markup."""
    plain = "".join(c if c.isalnum() or c in " ._-" else f"#{ord(c)};" for c in text)
    return f'"{plain}"'


def _build_document(graph: Graph) -> dict[str, Any]:
    return {
        "operator": graph.operator,
        "accounts": graph.accounts,
        "exports": [
            {
                "account": claim.account,
                "subject": claim.subject,
                "type": claim.kind,
                "name": claim.name,
                "restricted": claim.token,
            }
            for claim in graph.exports
        ],
        "imports": [
            {
                "account": claim.account,
                "from": claim.origin,
                "type": claim.kind,
                "subject": claim.remote,
                "local_subject": claim.local,
                "problem": claim.problem,
            }
            for claim in graph.imports
        ],
    }


@command(
    "diagram",
    examples=[
        "jsctl auth diagram",
        "jsctl auth diagram --format dot | dot -Tsvg > accounts.svg",
        "jsctl auth diagram --format mermaid",
    ],
)
@option(
    "--format",
    "drawing",
    type=click.Choice(_FORMATS),
    default="tree",
    help="A tree for the terminal, or text for Graphviz or Mermaid",
)
@operator_option()
async def diagram(env: Env, drawing: str, operator: str) -> Result:
    """Draw dashed lines for imports that do not work and for accounts that the store does not have."""
    store = await pick_operator(env, operator)
    return _show_diagram_result(make_graph(read_environment(store.folders, store.operator)), drawing)
