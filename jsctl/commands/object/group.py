"""`jsctl object` and its short commands."""

from collections.abc import AsyncGenerator
from functools import partial
from typing import Literal

import click

from jsctl.base.loops import gather
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.object.flags import (
    BUCKET,
    BucketFlags,
    bucket_argument,
    bucket_flags,
    open_bucket,
    report_damage,
)
from jsctl.commands.options.protection import unprotect_flag
from jsctl.commands.picking.pick import ask_bucket, validate_name
from jsctl.commands.stream.seal import seal_fetched
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.object import buckets, requests
from jsctl.jetstream.object.model import Link
from jsctl.jetstream.stream import requests as streams
from jsctl.views.events import Events, names
from jsctl.views.object import info_pages, lists, object_info
from jsctl.views.result import Result

_STORAGE = {"file": "file", "f": "file", "memory": "memory", "m": "memory"}


@command(
    "add",
    examples=[
        "jsctl object add FILES",
        "jsctl object add FILES --ttl 30d --replicas 3 --max-bucket-size 10GB",
    ],
)
@argument("bucket", metavar="BUCKET", default="")
@option("--storage", type=click.Choice([*_STORAGE]), default="file", help="Storage backend (file)")
@bucket_flags
async def add(
    env: Env, bucket: str, storage: Literal["file", "f", "memory", "m"], flags: BucketFlags
) -> Result:
    if not bucket:
        bucket = await ask_bucket(env, buckets.validate_bucket)
    buckets.validate_bucket(bucket)
    api = await env.jetstream()
    settings = {"storage": _STORAGE[storage], **flags.settings()}
    if "max_bytes" not in settings and streams.needs_max_bytes(await api_levels.fetch_account_info(api)):
        raise BadInput("this account needs a limit for every bucket", "set one with --max-bucket-size")
    info, created = await buckets.create(api, bucket, settings)
    outcome = "was created" if created else "already exists, nothing was changed"
    return info_pages.bucket(info, first_line=f"Bucket {bucket} {outcome}")


@command(
    "ls",
    columns=(),
    examples=["jsctl object ls FILES", "jsctl object ls", "jsctl object ls FILES --names"],
)
@bucket_argument()
@option("--names", "-n", "names_only", is_flag=True, help="Only names, one per line")
async def ls(env: Env, bucket: str, names_only: bool) -> Result | Events[str]:
    api = await env.jetstream()
    if not bucket:
        if names_only or env.wants_json:
            return names(buckets.list_name_pages(api))
        return lists.buckets(await streams.collect(api, _select_bucket), env.clock())
    name = validate_name("object bucket", bucket)
    if names_only:
        return names(_list_object_names(api, name))
    objects = await requests.list_all(api, name)
    report_damage(env, objects)
    return lists.objects(objects)


async def _list_object_names(api: Api, bucket: str) -> AsyncGenerator[list[str], None]:
    yield await requests.list_names(api, bucket)


def _select_bucket(info: Json) -> Json | None:
    """Return the stream's info if it is that of an object bucket, else None."""
    return info if buckets.get_bucket(info) else None


@command("info", examples=["jsctl object info FILES report.pdf", "jsctl object info FILES"])
@bucket_argument()
@argument("object", default="")
async def info(env: Env, bucket: str, object: str) -> Result:
    """Show OBJECT, if it is given; a link is shown as such."""
    api, name = await open_bucket(env, bucket)
    if object:
        return object_info.one_object(await requests.fetch_info(api, name, object))
    return info_pages.bucket(await buckets.fetch_info(api, name))


@command("status", columns=(), examples=["jsctl object status FILES", "jsctl object status"])
@bucket_argument()
async def status(env: Env, bucket: str) -> Result:
    """Also show unfinished puts, which are still running or were interrupted; jsctl object rm BUCKET
    --unfinished removes what the latter left.
    """
    api = await env.jetstream()
    if bucket:
        infos = [await buckets.fetch_info(api, validate_name("object bucket", bucket))]
    else:
        collected = await streams.collect(api, _select_bucket)
        infos = sorted(collected.items.values(), key=buckets.get_bucket)
    return lists.status(await gather(_count_objects(api, info) for info in infos))


async def _count_objects(api: Api, info: Json) -> tuple[Json, int, int]:
    return info, *await requests.count(api, buckets.get_bucket(info), info["config"])


def _complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from jsctl.commands.completing.names import complete_names

    target = str(ctx.params.get("target") or "")
    return complete_names("object", ctx, incomplete, target) if target else []


@command(
    "link",
    examples=[
        "jsctl object link FILES latest.pdf FILES report.pdf",
        "jsctl object link FILES archive OLD_FILES",
    ],
)
@bucket_argument(required=True)
@argument("name", metavar="NAME", label="Name of the link")
@argument("target", noun=BUCKET, metavar="TO_BUCKET")
@argument("target_object", metavar="[TO_OBJECT]", default="", shell_complete=_complete_target)
async def link(env: Env, bucket: str, name: str, target: str, target_object: str) -> Result:
    """Name the link NAME in BUCKET. Without TO_OBJECT it leads to the whole bucket. `object get` follows
    links to objects.
    """
    api = await env.jetstream()
    bucket = validate_name(BUCKET, bucket)
    leads_to = Link(validate_name(BUCKET, target), target_object)
    return object_info.one_object(await requests.link(api, bucket, name, leads_to))


@command("seal", examples=["jsctl object seal FILES", "jsctl object seal FILES --force"])
@bucket_argument()
@unprotect_flag
@destructive("Seal without asking")
async def seal(env: Env, bucket: str, unprotect: tuple[str, ...], force: bool) -> Result:
    """Prevent changes for good: nothing can be put into a sealed bucket or removed from it, and no object
    ages.
    """
    api, name = await open_bucket(env, bucket)
    fetch = partial(buckets.fetch_info, api, name)
    info, is_new = await seal_fetched(env, api, fetch, f"Bucket {name}", unprotect, force)
    return info_pages.bucket(info, first_line=f"{name} has been sealed" * is_new)
