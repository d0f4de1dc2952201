"""The flags of users and of scoped signing keys."""

from dataclasses import dataclass

from jsctl.auth.fields import USER
from jsctl.auth.settings import UserSettings
from jsctl.commands.editing.field_flags import ConfigFlags

_PERMISSIONS = [f"--{way}-{rule}" for way in ("pub", "sub") for rule in ("allow", "deny")]
_PERMISSIONS += ["--allow-pub-response", "--response-ttl"]
SECTIONS = {
    "Permissions": _PERMISSIONS,
    "Limits": [f"--{flag}" for flag in USER.by_flag if f"--{flag}" not in _PERMISSIONS],
}


@dataclass(frozen=True, slots=True)
class UserFlags:
    """The flags of a user; part of a verb's options."""

    config: ConfigFlags
    tags: tuple[str, ...]

    def build_settings(self, no_tags: tuple[str, ...] = ()) -> UserSettings:
        """Return the settings to apply to claims."""
        return UserSettings(self.config.values, self.tags, no_tags)
