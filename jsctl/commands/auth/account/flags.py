"""The flags of `auth account add` and `auth account edit`."""

from collections.abc import Sequence
from dataclasses import dataclass

from jsctl.auth.fields import ACCOUNT, ACCOUNT_LIMITS, JETSTREAM_LIMITS
from jsctl.auth.settings import AccountSettings
from jsctl.commands.cli import declare_all, option
from jsctl.commands.cli.declare import Decorator
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags
from jsctl.commands.picking.auth import expiry_option

_JETSTREAM = [f"--{field.flag}" for field in JETSTREAM_LIMITS]
_LIMITS = [f"--{field.flag}" for field in ACCOUNT_LIMITS]
_OTHERS = [f"--{flag}" for flag in ACCOUNT.by_flag if f"--{flag}" not in (*_JETSTREAM, *_LIMITS)]

SECTIONS: dict[str, Sequence[str]] = {
    "Most used": (
        *("--operator", "--jetstream", "--js-disk", "--js-memory", "--js-streams", "--js-consumers"),
        *("--connections", "--expiry", "--description", "--defaults"),
    ),
    "Limits": _LIMITS,
    "JetStream": ["--jetstream", "--tier", "--js-cluster-traffic", *_JETSTREAM],
    "Default permissions of users": [flag for flag in _OTHERS if flag.startswith("--default-")],
    "Traces": [flag for flag in _OTHERS if flag.startswith("--trace")],
}


@dataclass(frozen=True, slots=True)
class AccountFlags:
    """The flags of an account; part of a verb's options."""

    config: ConfigFlags
    jetstream: bool | None
    tier: str
    expiry: str
    tags: tuple[str, ...]

    def build_settings(self, no_tags: tuple[str, ...] = ()) -> AccountSettings:
        """Return the settings to apply to claims."""
        return AccountSettings(self.config.values, self.jetstream, self.tier, self.tags, no_tags)


def account_flags(verb: str) -> Decorator:
    """Add the flags of an account that `verb` ("add", "edit") takes, for `AccountFlags`."""
    return declare_all(
        config_flags(ACCOUNT, verb),
        option("--jetstream/--no-jetstream", default=None, help="Allow or forbid JetStream"),
        option(
            "--tier",
            metavar="TIER",
            default="",
            help="Set the limits of one tier, by number of replicas: R1, R3 or R5",
        ),
        expiry_option("the account"),
        option("--tags", metavar="TAG", multiple=True, help="Tags to add; may be repeated"),
    )
