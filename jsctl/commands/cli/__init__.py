"""The command line's building blocks, with which verbs are declared.

A global flag works anywhere on the line because every command and group takes it; the innermost value wins.
Only the root reads the environment.
"""

from jsctl.commands.cli.declare import argument, command, declare_all, option
from jsctl.commands.cli.destructive import destructive, dry_run_flag, refusing_blanks
from jsctl.commands.cli.global_flags import GroupOption
from jsctl.commands.cli.values import DURATION, INTERVAL, OPTIONAL_DURATION, SIZE, Count

__all__ = [
    "DURATION",
    "INTERVAL",
    "OPTIONAL_DURATION",
    "SIZE",
    "Count",
    "GroupOption",
    "argument",
    "command",
    "declare_all",
    "destructive",
    "dry_run_flag",
    "option",
    "refusing_blanks",
]
