"""`jsctl kv add`."""

from dataclasses import dataclass

from jsctl.commands.cli import argument, command, declare_all, option
from jsctl.commands.editing.adding import AddOptions, add_flags
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags
from jsctl.commands.options.data_loss import LossOptions, confirm_taking, find_taken, loss_flags
from jsctl.commands.picking.pick import ask_bucket
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.origins import import_from
from jsctl.jetstream.kv import bucket as buckets
from jsctl.jetstream.kv.config import BUCKET, BucketOrigin, find_warnings, refuse_long_history
from jsctl.views.kv import info as view
from jsctl.views.result import Result


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


_bucket_flags = declare_all(
    config_flags(BUCKET, "add"),
    option("--mirror-domain", metavar="DOMAIN", default="", help="JetStream domain that --mirror is in"),
)
"""The flags of `BucketFlags`."""


@command(
    "add",
    examples=[
        "jsctl kv add CONFIG",
        "jsctl kv add CONFIG --history 5 --ttl 30d --replicas 3",
        "jsctl kv add SESSIONS --marker-ttl 1m",
        "jsctl kv add CONFIG --mirror CONFIG --mirror-domain hub --js-domain leaf",
        "jsctl kv add ALL --source EAST --source WEST@west",
    ],
)
@argument("bucket", default="")
@add_flags
@loss_flags
@_bucket_flags
async def add(env: Env, bucket: str, adding: AddOptions, permits: LossOptions, flags: BucketFlags) -> Result:
    """Mirror or source another bucket by its NAME, or by NAME@DOMAIN from another JetStream domain.

    Values of a mirror are read from the copy and written to the origin; it has the origin's history, and its
    keys expire with it. --marker-ttl allows keys that expire, and notifies those who watch when one has.
    """
    draft = flags.apply(adding.read_config(env, BUCKET))
    if bucket:
        draft["name"] = bucket
    if not draft.get("name"):
        draft["name"] = await ask_bucket(env, BUCKET.validate_bucket)
    try:
        BUCKET.validate_bucket(str(draft["name"]))
    except ValueError as error:
        raise BadInput(str(error)) from None
    config = BUCKET.with_defaults(draft)
    BUCKET.validate(config)
    if env.mirrors_nats:  # KV_HISTORY
        refuse_long_history(config)
    for warning in find_warnings(config):
        env.say(f"warning: {warning}")
    name = config["name"]
    if adding.is_local:
        return adding.save(config, f"bucket {name}", BUCKET)
    api = await env.jetstream()
    config, unknown = await buckets.follow_origins(api, config, draft)
    for origin in unknown:
        env.say(f"warning: {origin} could not be asked whether its keys expire, and what history it keeps")
    losing = await find_taken(env, api, BUCKET.to_stream(config, None))
    await confirm_taking(env, permits, f"add Bucket {name}", losing)
    new_bucket, created = await buckets.create(api, config)
    outcome = "was created" if created else "already exists, nothing was changed"
    return view.named(f"Bucket {name} {outcome}", new_bucket)
