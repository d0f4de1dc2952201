"""Flags that all exports share."""

from collections.abc import Callable
from typing import Any, TypeVar

from jsctl.commands.cli import option

F = TypeVar("F", bound=Callable[..., Any])


def spark_options(function: F) -> F:
    """--master and --remote."""
    function = option(
        "--remote", metavar="URL", default="", help="Spark Connect server to use, such as sc://host:15002"
    )(function)
    return option(
        "--master",
        metavar="URL",
        default="",
        help="Spark cluster to use, such as spark://host:7077 (local[*]); it must see DIR at the same path",
    )(function)
