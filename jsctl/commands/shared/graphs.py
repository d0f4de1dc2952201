"""What graphs share."""

from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.units import MS


def check_graph(env: Env, every: int) -> None:
    """Raise BadInput for what cannot be drawn. every: ns between two samples."""
    if every < 100 * MS:
        raise BadInput("--every is too short", "100ms at least")
    if env.form in ("csv", "tsv"):
        raise BadInput("a graph has no table", "use --json")
