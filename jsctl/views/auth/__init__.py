"""Views of `jsctl auth`."""

from collections.abc import Sequence

from jsctl.views.result import Lines, Result


def names_result(names: Sequence[str]) -> Result:
    """Show one name per line."""
    return Result([Lines(names, whole=True)] if names else [], data=list(names))
