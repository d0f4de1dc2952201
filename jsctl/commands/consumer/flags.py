"""The flags of a consumer's configuration, for add, edit and copy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from jsctl.commands.cli import declare_all
from jsctl.commands.cli.declare import Decorator
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags, extra_flags, list_other_flags
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.consumer_fields import EXTRA_FLAGS, GROUP_FLAGS
from jsctl.jetstream.consumer.config import (
    CONSUMER,
    as_pull,
    parse_backoff,
    parse_deadline,
    with_priority_groups,
    with_start,
)

T = TypeVar("T")

SECTIONS: dict[str, Sequence[str]] = {
    "Most used": (
        *("--pull", "--target", "--filter", "--deliver", "--ack", "--wait", "--max-deliver", "--max-pending"),
        *("--config", "--defaults"),
    ),
    "Delivery": (
        "--replay",
        "--headers-only",
        "--description",
        "--metadata",
        "--pause",
    ),
    "Acknowledgement and retries": (
        "--backoff",
        "--backoff-steps",
        "--backoff-min",
        "--backoff-max",
        "--sample",
    ),
    "Pull consumers": (
        "--max-waiting",
        "--max-pull-batch",
        "--max-pull-expire",
        "--max-pull-bytes",
        "--pinned-groups",
        "--pinned-ttl",
        "--overflow-groups",
        "--prioritized-groups",
    ),
    "Push consumers": ("--deliver-group", "--flow-control", "--heartbeat", "--bps"),
    "State": ("--ephemeral", "--inactive-threshold", "--memory", "--replicas"),
}
SECTIONS["Other settings"] = list_other_flags(CONSUMER, SECTIONS)
"""Titles of the flags in help; fields that are new are in the last section."""


@dataclass(frozen=True, slots=True)
class ConsumerFlags(ConfigFlags):
    """The flags of a consumer's configuration; part of the options of edit.

    backoff: how the waits before redeliveries are distributed, None if not given; backoff_min, backoff_max:
    ns, of a linear backoff. sample: percent, 0 for none.
    """

    backoff: str | None
    backoff_steps: int
    backoff_min: int
    backoff_max: int
    sample: int | None

    def __bool__(self) -> bool:
        """Return whether any flag asks for a change."""
        return bool(self.fields) or bool(self.backoff) or self.sample is not None

    @property
    def push(self) -> bool:
        """Whether the flags make it a push consumer."""
        return bool(self.fields.get("target"))

    def apply(self, config: Json, now: float) -> Json:
        """Return a copy of the configuration with the flags applied to it.

        now: seconds since the epoch, for a start some time ago and a pause. Raises BadInput.
        """
        updated = CONSUMER.apply_flags(config, self.values)
        if self.sample is not None:
            updated["sample_freq"] = str(self.sample)
            if not self.sample:
                del updated["sample_freq"]
        if self.backoff:
            updated["backoff"] = self._parse_backoff(self.backoff)
            if not updated["backoff"]:
                del updated["backoff"]
            elif "ack_wait" in updated and "wait" not in self.fields:
                updated["ack_wait"] = updated["backoff"][0]  # as the server does
        return updated

    def _parse_backoff(self, mode: str) -> list[int]:
        return _parse_flag(
            "--backoff",
            lambda: parse_backoff(
                mode, steps=self.backoff_steps, shortest=self.backoff_min, longest=self.backoff_max
            ),
        )


@dataclass(frozen=True, slots=True)
class NewConsumerFlags(ConsumerFlags):
    """The flags of `ConsumerFlags`, and those that only a new consumer takes; part of the options of add and
    copy.

    deliver, pause: as they were written. groups: the texts of each flag of priority groups, by keyword.
    """

    deliver: str | None
    ephemeral: bool
    pull: bool
    pause: str | None
    groups: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        if self.pull and self.push:
            raise BadInput("--pull and --target cannot be used together")

    def apply(self, config: Json, now: float) -> Json:
        updated = as_pull(config) if self.pull else dict(config)
        if deliver := self.deliver:
            start = updated
            updated = _parse_flag("--deliver", lambda: with_start(start, deliver, now))
        updated = ConsumerFlags.apply(self, updated, now)
        if self.backoff and updated.get("backoff") and "max_deliver" not in updated:
            # As the `nats` tool does, so that each wait is used once.
            updated["max_deliver"] = len(updated["backoff"]) + 1
        if pause := self.pause:
            updated["pause_until"] = _parse_flag("--pause", lambda: parse_deadline(pause, now))
        groups = {name.replace("_", "-"): texts for name, texts in self.groups.items()}
        return with_priority_groups(updated, groups)


def consumer_flags(verb: str) -> Decorator:
    """Add the flags that `verb` takes: "edit" for `ConsumerFlags`, "add" and "copy" for
    `NewConsumerFlags`."""
    return declare_all(
        config_flags(CONSUMER, verb),
        extra_flags(EXTRA_FLAGS, verb),
        extra_flags(GROUP_FLAGS, verb, into="groups"),
    )


def _parse_flag(flag: str, parse: Callable[[], T]) -> T:
    try:
        return parse()
    except ValueError as error:
        raise BadInput(f"{flag}: {error}") from None
