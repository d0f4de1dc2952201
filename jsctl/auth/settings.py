"""Settings of accounts and users from flags and answers, applied to their claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jsctl.auth.claims import replace_members, set_or_drop
from jsctl.auth.fields import ACCOUNT, JETSTREAM_LIMITS, UNLIMITED, USER
from jsctl.auth.records import Json, Operator, has_jetstream
from jsctl.base.units import SECOND, parse_duration, parse_future_time, seconds_to_ns
from jsctl.errors import BadInput

_JETSTREAM_FLAGS = {field.flag: field.key.removeprefix("limits.") for field in JETSTREAM_LIMITS}
_STORAGE_FLAGS = ("js-disk", "js-memory")
_TIERS = ("R1", "R3", "R5")


@dataclass(frozen=True, slots=True)
class AccountSettings:
    """Settings for an account.

    values: by flag; see `Schema.apply_flags`. jetstream: whether the account may use JetStream; None leaves
    that unchanged. tier: the tier whose limits the `js-...` flags set, such as "R3"; empty for all streams.
    """

    values: Mapping[str, Any]
    jetstream: bool | None = None
    tier: str = ""
    tags: Sequence[str] = ()
    no_tags: Sequence[str] = ()

    def apply(self, nats: Json) -> None:
        """Change the `nats` claims in place. Raises BadInput."""
        jetstream = {flag: value for flag, value in self.values.items() if flag in _JETSTREAM_FLAGS}
        other_flags = {flag: value for flag, value in self.values.items() if flag not in _JETSTREAM_FLAGS}
        replace_members(nats, ACCOUNT.apply_flags(nats, other_flags))
        _tidy(nats)
        _drop_ignored_limits(nats)
        change_tags(nats, self.tags, self.no_tags)
        limits = nats.setdefault("limits", {})
        if self.jetstream is False:
            if jetstream or self.tier:
                raise BadInput("--no-jetstream cannot be used with JetStream limits")
            for key in (*_JETSTREAM_FLAGS.values(), "tiered_limits"):
                limits.pop(key, None)
        elif jetstream or self.tier or self.jetstream:
            self._set_jetstream(nats, limits, jetstream)

    @property
    def limits_jetstream(self) -> bool:
        """Whether any of the flags sets a limit of JetStream."""
        return bool(self.tier) or any(flag in _JETSTREAM_FLAGS for flag in self.values)

    def _set_jetstream(self, nats: Json, limits: Json, flags: Mapping[str, Any]) -> None:
        turns_on = self.jetstream or self.tier or any(flag in _STORAGE_FLAGS for flag in flags)
        if not turns_on and not has_jetstream(nats):
            raise BadInput("the account cannot use JetStream", "allow it with --jetstream")
        target = limits
        tiers = limits.get("tiered_limits") or {}
        if self.tier:
            if self.tier not in _TIERS:
                raise BadInput(f"{self.tier!r} is not a tier", f"use one of {', '.join(_TIERS)}")
            if has_jetstream({"limits": {**limits, "tiered_limits": None}}):
                raise BadInput(
                    "the account has limits for all streams and cannot also have limits for a tier",
                    "remove them with --no-jetstream",
                )
            target = limits.setdefault("tiered_limits", {}).setdefault(self.tier, {})
        elif tiers:
            raise BadInput(
                f"the account has limits by tier: {', '.join(sorted(tiers))}", "select one with --tier"
            )
        if not (target.get("disk_storage") or target.get("mem_storage")):
            chosen = any(flag in flags for flag in _STORAGE_FLAGS) and not self.jetstream
            storage = () if chosen else ("disk_storage", "mem_storage")
            target.update(dict.fromkeys((*storage, "streams", "consumer"), UNLIMITED))
        target.update(ACCOUNT.apply_flags({"limits": target}, flags)["limits"])


@dataclass(frozen=True, slots=True)
class UserSettings:
    """Settings for a user, or for the template of a scope.

    values: by flag; see `Schema.apply_flags`.
    """

    values: Mapping[str, Any]
    tags: Sequence[str] = ()
    no_tags: Sequence[str] = ()

    def apply(self, nats: Json) -> None:
        """Change the `nats` claims in place. Raises BadInput."""
        self.apply_permissions(nats)
        change_tags(nats, self.tags, self.no_tags)

    def apply_permissions(self, nats: Json) -> None:
        """Change permissions and limits in place. Raises BadInput."""
        replace_members(nats, USER.apply_flags(nats, self.values))
        tidy_permissions(nats)
        for key in (
            "src",
            "times",
            "times_location",
            "allowed_connection_types",
            "bearer_token",
            "proxy_required",
        ):
            set_or_drop(nats, key, nats.get(key))

    def refuse_in_scope(self, role: str) -> None:
        """Raise BadInput for settings that only the scope of a scoped user may set."""
        if self.values:
            flags = ", ".join(f"--{flag}" for flag in self.values)
            raise BadInput(
                f"a user with role {role} cannot have settings of its own: {flags}",
                "change the role with jsctl auth account keys edit, or sign the user with another key",
            )


def refuse_jetstream_of_system(nats: Json, public: str, operator: Operator) -> None:
    """Raise BadInput for claims that allow the system account to use JetStream."""
    if has_jetstream(nats) and operator.system_account == public:
        raise BadInput("the system account cannot use JetStream", "enable it for another account")


def change_tags(nats: Json, add: Sequence[str], remove: Sequence[str]) -> None:
    """Add and remove tags, which are lower case. A text may hold several, separated by commas."""
    added, removed = _split_tags(add), _split_tags(remove)
    tags = [tag for tag in nats.get("tags") or () if tag not in removed]
    tags += [tag for tag in added if tag not in tags]
    set_or_drop(nats, "tags", tags)


def parse_expiry(text: str, clock: float) -> dict[str, Any]:
    """Return the claim for an expiry. text: a duration or a time; 0 for never; empty for no change.

    clock: the time now, in seconds since 1970. Raises BadInput.
    """
    if not text:
        return {}
    now = seconds_to_ns(clock)
    try:
        if text == "0" or (text[:1].isdigit() and "-" not in text and parse_duration(text) == 0):
            return {"exp": None}
        end = parse_future_time(text, now)
    except ValueError:
        raise BadInput(f"{text!r} is not a duration such as 30d or a time such as 2026-11-21") from None
    if end <= now:
        raise BadInput(f"{text} is in the past", "use a duration such as 30d, or a later time")
    return {"exp": end // SECOND}


def check_url(text: str, flag: str) -> str:
    """Return `text` if it is empty or a URL. Raises BadInput."""
    parts = urlsplit(text)
    if text and not (parts.scheme and (parts.netloc or parts.path)):
        raise BadInput(f"{flag}: {text!r} is not a valid URL", "use one such as https://host")
    return text


def _split_tags(texts: Sequence[str]) -> list[str]:
    tags = (tag.strip().lower() for text in texts for tag in text.split(","))
    return list(dict.fromkeys(tag for tag in tags if tag))


def _drop_ignored_limits(nats: Json) -> None:
    """Remove JetStream limits that servers ignore: those for all streams beside tiers, and a tier without a
    name."""
    limits = nats.get("limits") or {}
    tiers = limits.get("tiered_limits")
    if tiers:
        tiers.pop("", None)
        for key in _JETSTREAM_FLAGS.values():
            limits.pop(key, None)


def _tidy(nats: Json) -> None:
    """Remove the members that empty values have turned off."""
    for key in ("description", "info_url"):
        set_or_drop(nats, key, nats.get(key))
    if not (nats.get("trace") or {}).get("dest"):
        nats.pop("trace", None)
    tidy_permissions(nats.get("default_permissions") or {})


def tidy_permissions(permissions: Json) -> None:
    """Remove empty lists from permissions in place."""
    for action in ("pub", "sub"):
        rules = permissions.get(action)
        if isinstance(rules, dict):
            for rule in [rule for rule in ("allow", "deny") if rule in rules and not rules[rule]]:
                del rules[rule]
    resp = permissions.get("resp")
    if isinstance(resp, dict):
        if not resp.get("max"):
            permissions.pop("resp")
        else:
            resp.setdefault("ttl", 0)
