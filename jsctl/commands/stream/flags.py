"""The flags of a stream's configuration, for add, edit and copy."""

from collections.abc import Sequence
from dataclasses import dataclass

from jsctl.commands.cli import declare_all
from jsctl.commands.cli.declare import Decorator
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags, extra_flags, list_other_flags
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.origins import IMPORT_FLAGS, import_from, parse_origin
from jsctl.jetstream.stream.config import STREAM

SECTIONS: dict[str, Sequence[str]] = {
    "Most used": (
        *("--subjects", "--mirror", "--source", "--storage", "--retention", "--max-age", "--max-bytes"),
        *("--replicas", "--config", "--defaults"),
    ),
    "Subjects and messages": (
        "--description",
        "--metadata",
        "--ack",
        "--first-sequence",
        "--dupe-window",
        "--transform-source",
        "--transform-destination",
        "--no-transform",
    ),
    "Storage and placement": (
        "--compression",
        "--persist-mode",
        "--tag",
        "--cluster",
    ),
    "Limits": (
        "--discard",
        "--discard-per-subject",
        "--max-consumers",
        "--max-msg-size",
        "--max-msgs",
        "--max-msgs-per-subject",
        "--limit-consumer-inactive",
        "--limit-consumer-max-pending",
    ),
    "Mirror and sources": (
        "--mirror-domain",
        "--mirror-api-prefix",
        "--mirror-deliver-prefix",
        "--no-mirror",
    ),
    "Permissions and features": (
        "--allow-batch",
        "--allow-fast",
        "--allow-counter",
        "--allow-rollup",
        "--deny-delete",
        "--deny-purge",
        "--allow-direct",
        "--allow-mirror-direct",
        "--allow-msg-ttl",
        "--subject-del-markers-ttl",
        "--allow-schedules",
    ),
    "Republishing": (
        "--republish-source",
        "--republish-destination",
        "--republish-headers",
        "--no-republish",
    ),
}
SECTIONS["Other settings"] = list_other_flags(STREAM, SECTIONS)
"""Titles of the flags in help; fields that are new are in the last section."""


@dataclass(frozen=True, slots=True)
class StreamFlags(ConfigFlags):
    """The flags of a stream's configuration. Empty: not given."""

    mirror_domain: str
    mirror_api_prefix: str
    mirror_deliver_prefix: str

    def __post_init__(self) -> None:
        imported = self.mirror_domain or self.mirror_api_prefix or self.mirror_deliver_prefix
        if imported and "mirror" not in self.fields:
            raise BadInput("--mirror-domain, --mirror-api-prefix and --mirror-deliver-prefix need --mirror")

    def apply(self, config: Json) -> Json:
        """Return a copy of the configuration with the flags applied to it.

        Raises BadInput, also for no subjects, as where a script's variable is not set: a stream that copies
        none would take its own name as its subject.
        """
        values = self.values
        if mirror := values.get("mirror"):
            values["mirror"] = import_from(
                parse_origin(mirror) if isinstance(mirror, str) else mirror,
                domain=self.mirror_domain,
                api=self.mirror_api_prefix,
                deliver=self.mirror_deliver_prefix,
            )
        applied = STREAM.apply_flags(config, values)
        if "subjects" in values and not any(applied.get(key) for key in ("subjects", "mirror", "sources")):
            raise BadInput("--subjects is empty", "give a value, or leave it out")
        return applied


def stream_flags(verb: str) -> Decorator:
    """Add the flags that `verb` ("add", "edit", "copy") takes, for `StreamFlags`."""
    return declare_all(config_flags(STREAM, verb), extra_flags(IMPORT_FLAGS, verb))
