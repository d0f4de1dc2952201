"""The common parts of the verbs of `jsctl server watch`."""

from collections.abc import Sequence

import click

from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, declare_all, option
from jsctl.commands.cli.declare import Decorator

every_flag = option(
    "--every", type=DURATION, default=2 * SECOND, metavar="DURATION", help="Time between two rounds (2s)"
)
count_flag = option(
    "--count", type=click.IntRange(min=1), metavar="NUMBER", help="End after this many rounds"
)


def ranking_flags(sorts: Sequence[str], default: str) -> Decorator:
    """Declare --sort and --number, which choose the rows, then --every and --count. sorts: the figures to
    sort by."""
    return declare_all(
        option("--sort", "order", type=click.Choice(sorts), default=default, help="The largest first"),
        option(
            "--number",
            "-n",
            type=click.IntRange(min=0),
            default=0,
            help="Only this many, the largest; 0 for all",
        ),
        every_flag,
        count_flag,
    )
