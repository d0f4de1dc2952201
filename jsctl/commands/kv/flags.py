"""The flags of a bucket's configuration, for add and edit."""

from dataclasses import dataclass

from jsctl.commands.cli import declare_all, option
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.origins import import_from
from jsctl.jetstream.kv.config import BUCKET, BucketOrigin


@dataclass(frozen=True, slots=True)
class BucketFlags(ConfigFlags):
    """The flags of a bucket's configuration. Empty: not given."""

    mirror_domain: str

    def __post_init__(self) -> None:
        if self.mirror_domain and "mirror" not in self.fields:
            raise BadInput("--mirror-domain needs --mirror")

    def apply(self, config: Json) -> Json:
        """Return a copy of the configuration with the flags applied to it. Raises BadInput."""
        values = self.values
        if mirror := values.get("mirror"):
            origin = BucketOrigin().parse(mirror) if isinstance(mirror, str) else mirror
            values["mirror"] = import_from(origin, domain=self.mirror_domain)
        return BUCKET.apply_flags(config, values)


bucket_flags = declare_all(
    config_flags(BUCKET, "add"),
    option("--mirror-domain", metavar="DOMAIN", default="", help="JetStream domain that --mirror is in"),
)
"""The flags of `kv add`, for `BucketFlags`."""
