"""The common part of graphs."""

from jsctl.commands.options.watch import check_every
from jsctl.env import Env
from jsctl.errors import BadInput


def check_graph(env: Env, every: int) -> None:
    """Raise BadInput for a graph that cannot be drawn. every: ns between two samples."""
    check_every(every)
    if env.form in ("csv", "tsv"):
        raise BadInput("a graph has no table", "use --json")
