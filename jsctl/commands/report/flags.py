"""Flags of `jsctl report`, and their values."""

from dataclasses import dataclass

from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, declare_all, option
from jsctl.commands.options.watch import check_interval
from jsctl.commands.report.fail_on import CONDITION
from jsctl.commands.report.screen import Selection
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.alerts.conditions import TimedCondition
from jsctl.monitor.report.lines import PARTS

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


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. watch, keep: ns. search, pattern: empty for all."""

    watch: int | None
    count: int | None
    pattern: str
    sort: str | None
    part: str | None
    search: str
    problems: bool
    all_contexts: bool
    groups: tuple[str, ...]
    record: str
    keep: int | None
    replay: str
    consumers: bool
    fail_on: TimedCondition | None
    allow_unchecked: bool
    alert: str
    allow_changes: bool
    alert_state: str
    spark: str

    def __post_init__(self) -> None:
        check_interval(self.watch, "2s is the default")
        if self.allow_unchecked and self.fail_on is None:
            raise BadInput("--allow-unchecked needs --fail-on", "without it nothing fails")
        if self.alert_state and (not self.alert or self.replay):
            raise BadInput("--alert-state needs --alert, and no --replay", "it says where states are kept")
        if self.keep is not None and not self.record:
            raise BadInput("--keep needs --record", "it says how long recorded rounds are kept")

    @property
    def is_single(self) -> bool:
        """Whether the report is shown once."""
        return self.watch is None and self.count is None and not self.record and not self.alert

    def build_selection(self, env: Env) -> Selection:
        """Return what they choose."""
        return Selection(
            part=PARTS[int(self.part) - 1] if self.part and self.part.isdigit() else self.part or "",
            filter=self.search,
            sort=self.sort or "",
            problems=self.problems,
            pattern=self.pattern,
            consumers=self.consumers,
            interval=self.watch or 2 * SECOND,
            rounds=self.count or 0,
            allow_changes=self.allow_changes,
            is_by_name=bool(env.repeated.get("context") or self.all_contexts or self.groups),
        )
