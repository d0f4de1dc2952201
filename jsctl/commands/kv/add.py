"""`jsctl kv add`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.editing.adding import AddOptions, add_flags
from jsctl.commands.kv.flags import BucketFlags, bucket_flags
from jsctl.commands.picking.pick import ask_bucket
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.kv import bucket as buckets
from jsctl.jetstream.kv.config import BUCKET, find_warnings
from jsctl.jetstream.kv.names import validate_bucket
from jsctl.views.kv import info as view
from jsctl.views.result import Result


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
@bucket_flags
async def add(env: Env, bucket: str, adding: AddOptions, flags: BucketFlags) -> Result:
    """Mirror or source another bucket by its NAME, or by NAME@DOMAIN from another JetStream domain.

    Values of a mirror are read from the copy and written to the origin. --marker-ttl allows keys that expire,
    and notifies those who watch when one has.
    """
    draft = flags.apply(adding.read_config(env, BUCKET))
    if bucket:
        draft["name"] = bucket
    if not draft.get("name"):
        draft["name"] = await ask_bucket(env, validate_bucket)
    try:
        validate_bucket(str(draft["name"]))
    except ValueError as error:
        raise BadInput(str(error)) from None
    config = BUCKET.with_defaults(draft)
    BUCKET.validate(config)
    for warning in find_warnings(config):
        env.say(f"warning: {warning}")
    name = config["name"]
    if adding.is_local:
        return adding.save(config, f"bucket {name}")
    api = await env.jetstream()
    await buckets.check_origins(api, config)
    new_bucket, created = await buckets.create(api, config)
    outcome = "was created" if created else "already exists, nothing was changed"
    return view.named(f"Bucket {name} {outcome}", new_bucket)
