"""`jsctl bench object`: put, get."""

import click

from jsctl.bench import targets
from jsctl.bench.plan import OBJECTS
from jsctl.commands.bench.flags import add_shared, parse_shared, shared_flag
from jsctl.commands.bench.running import DRY_RUN, announce, make_plan, purge, run
from jsctl.commands.cli import command, destructive, option
from jsctl.env import Env
from jsctl.jetstream.object.model import build_stream_name
from jsctl.views.result import Result


@command("object", examples=["jsctl bench object put", "jsctl bench object get"])
def object_(env: Env) -> None: ...


add_shared(
    object_,
    shared_flag("--bucket", metavar="BUCKET", help=f"The bucket to use ({OBJECTS}, which is created)"),
)


@command(
    "put",
    examples=["jsctl bench object put", "jsctl bench object put --size 10MiB --msgs 20 --storage memory"],
)
@option(
    "--storage", type=click.Choice(["file", "memory"]), default="file", help="Storage of a new bucket (file)"
)
@option("--replicas", type=click.IntRange(1, 5), default=1, metavar="N", help="Replicas of a new bucket (1)")
@option("--purge", "purge_first", is_flag=True, help="Remove the bucket's objects first")
@destructive("Purge a bucket that no benchmark created, without asking", DRY_RUN)
async def put(env: Env, storage: str, replicas: int, purge_first: bool, force: bool) -> Result:
    """Put the next object of each client when the last is stored."""
    flags = parse_shared(env, "object put")
    plan = make_plan("object put", flags, name=flags.bucket or OBJECTS, payload=bytes(flags.size))
    api = await env.jetstream()
    settings = {"storage": storage, "num_replicas": replicas}
    new_bucket = settings if plan.name == OBJECTS else None
    await announce(env, api, plan, build_stream_name(plan.name), purges=purge_first, creates=new_bucket)
    info = await targets.prepare_object_bucket(api, plan, settings)
    if purge_first:
        await purge(env, api, info, force=force)
    return await run(env, plan, flags)


@command("get", examples=["jsctl bench object get", "jsctl bench object get --clients 4 --random"])
@option("--random", is_flag=True, help="Choose each object at random")
async def get(env: Env, random: bool) -> Result:
    """Get the objects of the bucket one after the other in each client, and verify their digests."""
    flags = parse_shared(env, "object get")
    plan = make_plan("object get", flags, name=flags.bucket or OBJECTS, random=random)
    await targets.prepare_object_bucket(await env.jetstream(), plan, {})
    return await run(env, plan, flags)
