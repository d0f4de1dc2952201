"""Flags of `jsctl report`: about files, recordings and alerts, about changes, and its condition."""

from jsctl.commands.cli import DURATION, declare_all, option
from jsctl.commands.report.fail_on import CONDITION

recording_flags = declare_all(
    option(
        "--record",
        metavar="FILE",
        default="",
        help="Append each round to FILE, compressed; implies --watch",
    ),
    option(
        "--keep",
        metavar="DURATION",
        type=DURATION,
        help="Drop recorded rounds that are older than this: 48h (never)",
    ),
    option("--replay", metavar="FILE", default="", help="Show the rounds that --record wrote to FILE"),
    option(
        "--alert",
        metavar="FILE",
        default="",
        help="Tell the receivers of FILE when its alerts fire; implies --watch; with --replay, show what"
        " would have happened",
    ),
    option(
        "--allow-changes",
        is_flag=True,
        help="Let keys of the screen of --watch pause, purge, edit ... what is selected, after a dry run",
    ),
    option("--alert-state", metavar="FILE", default="", help="Keep the states of alerts in FILE"),
)
"""Rounds that are recorded, replayed and compared with alerts."""

condition_flags = declare_all(
    option(
        "--fail-on",
        type=CONDITION,
        metavar="EXPRESSION",
        help="Exit with 1 when this condition holds for a row, with --watch as soon as it does",
    ),
    option(
        "--allow-unchecked",
        is_flag=True,
        help="Let --fail-on pass although something could not be looked at",
    ),
)
"""The condition that sets the exit status."""
