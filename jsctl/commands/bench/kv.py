"""`jsctl bench kv`: put, get."""

import click

from jsctl.bench import targets
from jsctl.bench.plan import BUCKET
from jsctl.commands.bench.flags import add_shared, max_bytes_flag, parse_shared, shared_flag
from jsctl.commands.bench.running import DRY_RUN, announce, make_plan, purge, run
from jsctl.commands.cli import command, destructive, option
from jsctl.env import Env
from jsctl.jetstream.kv.names import bucket_to_stream
from jsctl.views.result import Result


@command("kv", examples=["jsctl bench kv put", "jsctl bench kv get"])
def kv(env: Env) -> None: ...


add_shared(
    kv, shared_flag("--bucket", metavar="BUCKET", help=f"The bucket to use ({BUCKET}, which is created)")
)


_randomize_flag = option(
    "--randomize",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Choose from the keys 0 to N-1 at random; 0 takes them in order",
)


@command("put", examples=["jsctl bench kv put", "jsctl bench kv put --clients 4 --randomize 1000"])
@option(
    "--storage", type=click.Choice(["file", "memory"]), default="file", help="Storage of a new bucket (file)"
)
@option("--replicas", type=click.IntRange(1, 5), default=1, metavar="N", help="Replicas of a new bucket (1)")
@max_bytes_flag("a new bucket")
@option(
    "--history", type=click.IntRange(1, 64), default=1, metavar="N", help="Number of values kept per key (1)"
)
@option("--purge", "purge_first", is_flag=True, help="Remove the bucket's values first")
@destructive("Purge a bucket that no benchmark created, without asking", DRY_RUN)
@_randomize_flag
async def put(
    env: Env,
    storage: str,
    replicas: int,
    maxbytes: int,
    history: int,
    purge_first: bool,
    force: bool,
    randomize: int,
) -> Result:
    """Use numbers as keys. Each client puts its next value after the ack of the last."""
    flags = parse_shared(env, "kv put")
    plan = make_plan("kv put", flags, name=flags.bucket or BUCKET, payload=bytes(flags.size), keys=randomize)
    api = await env.jetstream()
    settings = {
        "storage": storage,
        "replicas": replicas,
        "max_bytes": maxbytes,
        "history": history,
    }
    new_bucket = settings if plan.name == BUCKET else None
    await announce(env, api, plan, bucket_to_stream(plan.name), purges=purge_first, creates=new_bucket)
    info = await targets.prepare_bucket(api, plan, settings)
    if purge_first:
        await purge(env, api, info, force=force)
    return await run(env, plan, flags)


@command("get", examples=["jsctl bench kv get", "jsctl bench kv get --clients 4 --randomize 1000"])
@_randomize_flag
async def get(env: Env, randomize: int) -> Result:
    """Read what bench kv put has stored."""
    flags = parse_shared(env, "kv get")
    plan = make_plan("kv get", flags, name=flags.bucket or BUCKET, keys=randomize)
    await targets.prepare_bucket(await env.jetstream(), plan, {})
    return await run(env, plan, flags)
