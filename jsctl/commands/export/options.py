"""Flags that all exports share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from jsctl.commands.cli import option

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Which Spark to use: URLs, both empty for one in this process."""

    master: str
    remote: str


def spark_options(function: F) -> F:
    """Declare --master and --remote; see SparkOptions."""
    function = option(
        "--remote",
        metavar="URL",
        default="",
        help="Spark Connect server to use, such as sc://host:15002; folders as with --master",
    )(function)
    return option(
        "--master",
        metavar="URL",
        default="",
        help="Spark cluster to use, such as spark://host:7077 (local[*]); folders must be on a file system"
        " that this machine and all of Spark's share, at the same path",
    )(function)
