"""Flags of the bucket that `object add` and `object edit` share, and arguments that name objects and
buckets.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from jsctl.commands.cli import OPTIONAL_DURATION, SIZE, argument, declare_all, option
from jsctl.commands.cli.declare import Decorator
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.kinds import Map
from jsctl.jetstream.object.model import ObjectInfo

BUCKET = "object bucket"
"""The noun of the registry."""


@dataclass(frozen=True, slots=True)
class BucketFlags:
    """The settings of a bucket; None or empty if a flag is not given. ttl: ns. max_bucket_size: bytes."""

    ttl: int | None
    replicas: int | None
    max_bucket_size: int | None
    description: str | None
    tags: tuple[str, ...]
    cluster: str | None
    metadata: tuple[str, ...]
    compress: bool | None

    def settings(self, live: Json | None = None) -> Json:
        """Return the keys of the stream's configuration that are given. live: the present one. Raises
        BadInput.
        """
        settings: Json = {}
        if self.ttl is not None:
            settings["max_age"] = max(self.ttl, 0)
            # Not longer than messages live (nats-server: stream.go).
            settings["duplicate_window"] = min(max(self.ttl, 0) or _WINDOW, _WINDOW)
        if self.replicas is not None:
            settings["num_replicas"] = self.replicas
        if self.max_bucket_size is not None:
            settings["max_bytes"] = self.max_bucket_size if self.max_bucket_size > 0 else -1
        if self.description is not None:
            settings["description"] = self.description
        if self.compress is not None:
            settings["compression"] = "s2" if self.compress else "none"
        if self.metadata:
            settings["metadata"] = {**((live or {}).get("metadata") or {}), **parse_metadata(self.metadata)}
        placement: Json = dict((live or {}).get("placement") or {})
        if self.tags:
            placement["tags"] = list(self.tags)
        if self.cluster is not None:
            placement["cluster"] = self.cluster
        if placement:
            settings["placement"] = placement
        return settings


_WINDOW = 120_000_000_000  #: ns; the server's own default


bucket_flags = declare_all(
    option(
        "--ttl",
        type=OPTIONAL_DURATION,
        metavar="DURATION",
        help="Remove objects after this time; 0 keeps them",
    ),
    option("--replicas", type=click.IntRange(1, 5), metavar="N", help="Copies of the data in a cluster"),
    option(
        "--max-bucket-size",
        type=SIZE,
        metavar="BYTES",
        help="Maximum size of the bucket; -1 is unlimited",
    ),
    option("--description", metavar="TEXT", help="What the bucket is for"),
    option("--tags", multiple=True, metavar="TAG", help="Place it on servers with this tag; may be repeated"),
    option("--cluster", metavar="NAME", help="Place it in this cluster"),
    option("--metadata", multiple=True, metavar="KEY=VALUE", help="Metadata of the bucket; may be repeated"),
    option("--compress/--no-compress", default=None, help="Compress the data"),
)
"""The flags of `BucketFlags`."""


def parse_metadata(pairs: Sequence[str]) -> dict[str, str]:
    """Parse `KEY=VALUE`. Raises BadInput."""
    try:
        return Map().collect(pairs, None)
    except ValueError as error:
        raise BadInput(str(error), "use --metadata KEY=VALUE") from None


def bucket_argument(**attrs: Any) -> Decorator:
    """Declare the argument that takes a bucket."""
    return argument("bucket", noun=BUCKET, metavar="BUCKET", **{"default": "", **attrs})


def report_damage(env: Env, objects: Iterable[ObjectInfo]) -> None:
    """Say of which objects the description cannot be read."""
    for object_info in objects:
        if object_info.damage:
            env.say(f"jsctl: {object_info.damage}")


async def open_bucket(env: Env, name: str) -> tuple[Api, str]:
    """Return the JetStream API of the command line, and a bucket; see `pick`."""
    api = await env.jetstream()
    return api, await pick(env, BUCKET, name, api=api)
