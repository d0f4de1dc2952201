"""Which streams lists show: not those of buckets and the system, unless --all was given."""

from jsctl.env import Env
from jsctl.jetstream.stream import requests as streams


def is_listed(env: Env, stream: str) -> bool:
    """Whether lists show a stream of this name."""
    return bool(env.flags.get("all_streams")) or not streams.is_internal(stream)
