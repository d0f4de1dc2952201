"""Flags of `jsctl report` about files: recordings and alerts."""

from jsctl.commands.cli import DURATION, declare_all, option

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
    option("--alert-state", metavar="FILE", default="", help="Keep the states of alerts in FILE"),
)
"""Rounds that are recorded, replayed and compared with alerts."""
