"""Flags that select the messages of an export, and say when what is missing fails it."""

from dataclasses import dataclass

from jsctl.commands.cli import declare_all, option
from jsctl.commands.options.past_time import parse_time_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.spark.export.stream_plan import Selection


@dataclass(frozen=True, slots=True)
class RangeOptions:
    """Which messages are exported: times or sequences, and subjects."""

    since: str
    until: str
    from_seq: int | None
    to_seq: int | None
    subjects: tuple[str, ...]
    fail_on_loss: bool
    fail_on_deleted: bool

    def __post_init__(self) -> None:
        for time, sequence, names in (
            (self.since, self.from_seq, "--since and --from-seq"),
            (self.until, self.to_seq, "--until and --to-seq"),
        ):
            if time and sequence is not None:
                raise BadInput(f"{names} cannot be used together", "use only one")
        for flag, sequence in (("--from-seq", self.from_seq), ("--to-seq", self.to_seq)):
            if sequence is not None and sequence < 1:
                raise BadInput(f"{flag} {sequence} is not a sequence", "sequences start at 1")
        if self.from_seq is not None and self.to_seq is not None and self.from_seq > self.to_seq:
            raise BadInput(f"--from-seq {self.from_seq} is after --to-seq {self.to_seq}")
        if any("," in subject for subject in self.subjects):
            raise BadInput("--subject takes one subject", "repeat the flag for more")
        if self.fail_on_deleted and self.subjects:
            raise BadInput(
                "--fail-on-deleted and --subject cannot be used together",
                "deletions are seen only when all subjects are read",
            )

    @property
    def has_end(self) -> bool:
        """Whether an end is given."""
        return bool(self.until) or self.to_seq is not None

    @property
    def is_given(self) -> bool:
        """Whether a start or an end is given."""
        return self.has_end or bool(self.since) or self.from_seq is not None

    def build_selection(self, env: Env, *, fail_on_bad: int | None) -> Selection:
        """Return the selection, with times. Raises BadInput."""
        since, until = (
            parse_time_flag(env, "--since", self.since),
            parse_time_flag(env, "--until", self.until),
        )
        if since and until and since >= until:
            raise BadInput("--since must be before --until")
        return Selection(
            subjects=tuple(dict.fromkeys(self.subjects)),
            start=self.from_seq,
            end=None if self.to_seq is None else self.to_seq + 1,
            since=since,
            until=until,
            fail_on_loss=self.fail_on_loss,
            fail_on_deleted=self.fail_on_deleted,
            fail_on_bad=fail_on_bad or 0,
        )


range_options = declare_all(
    option(
        "--since", selects=True, metavar="TIME", default="", help="Start at a time, or this long ago (1h)"
    ),
    option(
        "--until", selects=True, metavar="TIME", default="", help="End before a time, or this long ago (1h)"
    ),
    option("--from-seq", selects=True, type=int, metavar="SEQ", help="Start at this sequence"),
    option("--to-seq", selects=True, type=int, metavar="SEQ", help="End with this sequence"),
    option(
        "--subject",
        "subjects",
        selects=True,
        metavar="SUBJECT",
        multiple=True,
        help="Only these subjects; may be repeated",
    ),
    option(
        "--fail-on-data-loss/--no-fail-on-data-loss",
        "fail_on_loss",
        default=True,
        help="Fail when the stream dropped messages before they were read (default)",
    ),
    option("--fail-on-deleted", is_flag=True, help="Fail when messages were deleted within the stream"),
)
"""The flags of RangeOptions."""
