"""`--query` of exports: a question about the tables that were written."""

from jsctl.base.units import pluralize
from jsctl.commands.cli import declare_all, option
from jsctl.env import Env
from jsctl.spark.export.query import Answer
from jsctl.views.export import export as view
from jsctl.views.result import Result

query_options = declare_all(
    option(
        "--query",
        "sql",
        metavar="SQL",
        default="",
        help="Query the tables afterwards, and print the answer",
    ),
    option(
        "--limit",
        type=int,
        metavar="ROWS",
        default=1000,
        help="Show at most this many rows of --query (1000)",
    ),
)
"""--query and --limit."""


def show_answer(env: Env, answer: Answer, limit: int) -> Result:
    """Return the answer, and say if it has more rows."""
    if answer.is_truncated:
        env.say(f"the output ends after {pluralize(limit, 'row')}; show more with --limit")
    return view.answer(answer.columns, answer.rows)


def add_answer(env: Env, result: Result, answer: Answer, limit: int, closing: str) -> Result:
    """Return the answer, and say the closing line of the export; with --json both are in one document."""
    shown = show_answer(env, answer, limit)
    if not env.wants_json:
        env.inform(closing)
    return Result(shown.parts, dict(result.data, query=shown.data), result.status)
