"""Flags of `jsctl server check` and of all its commands."""

import click

from jsctl.commands.cli import GroupOption, command
from jsctl.env import Env
from jsctl.views.server import check as view


@command(
    "check", examples=["jsctl server check connection", "jsctl server check jetstream --format prometheus"]
)
def check(env: Env) -> None:
    """Exit with 0 if all is well, 1 for a warning, 2 if something is critical; with --format prometheus
    always with 0, as the status is a metric.

    For connections, subscriptions, subjects and values of a bucket, a critical threshold below the one for
    warnings, or none beside it, inverts both: then small numbers are bad.
    """


check.params += [
    GroupOption(
        "--format",
        "check_format",
        type=click.Choice(view.FORMATS),
        default="nagios",
        help="Form of the output (nagios)",
    ),
    GroupOption("--namespace", "check_namespace", metavar="NAME", help="Prefix for Prometheus"),
    GroupOption("--outfile", "check_outfile", metavar="FILE", help="Write to this file"),
]
