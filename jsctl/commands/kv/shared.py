"""The common parts of the verbs of `jsctl kv`: opening a bucket, keys and patterns."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import click

from jsctl.base.command_lines import build_line
from jsctl.base.units import MINUTE, format_exact_duration, parse_time_ns, seconds_to_ns
from jsctl.commands.cli import option
from jsctl.commands.cli.declare import Decorator
from jsctl.commands.cli.values import Parsed
from jsctl.commands.options.past_time import parse_time_flag_ns
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.jetstream.api import Api
from jsctl.jetstream.kv import bucket as buckets
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.codec import CODECS, PLAIN, Codec, parse_codec
from jsctl.jetstream.kv.names import is_pattern, parse_key_pattern
from jsctl.nats.subjects import explain_wildcards

if TYPE_CHECKING:
    from jsctl.jetstream.kv.entry import Entry
    from jsctl.jetstream.kv.past import Past

REVISION = click.IntRange(min=1)
"""The type of a revision on the command line."""


codec_flag = option(
    "--codec",
    type=Parsed("codec", parse_codec),
    default=PLAIN,
    completes="codec",
    metavar="|".join(CODECS),
    help="How keys are encoded in the bucket; several in turn: path,base64",
)
"""Declare the flag of a `Codec`."""


def refuse_codec(codec: Codec, noun: str = "KEY") -> None:
    """Raise BadInput for --codec on a line without keys. noun: what the line lacks."""
    if codec:
        raise BadInput("--codec is for keys", f"specify {noun}, or leave --codec out")


async def open_named(env: Env, name: str, api: Api | None = None, codec: Codec = PLAIN) -> Bucket:
    """Return the bucket of this name; without one, the bucket that the user picks. Raises NotFound,
    BadInput.
    """
    api = api or await env.jetstream()
    bucket = await buckets.open_bucket(api, await pick(env, "bucket", name, api=api))
    return bucket._replace(codec=codec)


def parse_patterns(env: Env, keys: Sequence[str], codec: Codec) -> list[str]:
    """Return the stored forms of keys and patterns from the command line; without any, the pattern of all
    keys. Raises BadInput.
    """
    if not codec and (note := explain_wildcards(keys)):
        env.say(f"jsctl: {note}, as in 'user.*'")
    return [parse_key_pattern(key, codec) for key in keys] or [">"]


def at_flag(help: str, name: str = "--at") -> Decorator:
    """Declare a flag that takes a time in the past, for `parse_at`."""
    return option(name, selects=True, metavar="TIME", default="", help=help)


def parse_at(env: Env, text: str, flag: str = "--at") -> int:
    """Return the time of --at, in ns since 1970. Raises BadInput."""
    time = parse_time_flag_ns(env, flag, text)
    if time > seconds_to_ns(env.clock()) + MINUTE:  # a server's clock may be a little ahead
        raise BadInput(f"{flag} {text!r} is in the future")
    return time


def warn_of_unknown(env: Env, bucket: Bucket, past: "Past") -> None:
    """Warn of what is not known of keys at a time."""
    for sentence in past.describe_unknown(bucket):
        env.say(f"warning: {sentence}")


def check_found(bucket: Bucket, patterns: Sequence[str], keys: Collection[str]) -> None:
    """Raise NotFound for a pattern that none of the keys matches."""
    from jsctl.nats.subjects import matches

    for pattern in patterns:
        if is_pattern(pattern) and not any(matches(pattern, key) for key in keys):
            hint = f"{build_line('kv ls', bucket.name, flags=bucket.codec.flags)} lists the keys"
            raise NotFound(f"no key matches {bucket.decode_key(pattern)} in bucket {bucket.name}", hint)


def warn_of_ttl(env: Env, bucket: Bucket, ttl: int) -> None:
    """Warn when the bucket raises a TTL (ns). What a mirror gets, its origin stores."""
    if not ttl or bucket.stream_config.get("mirror"):
        return
    from jsctl.jetstream.message.schedule import find_raised_ttl

    if raised := find_raised_ttl(bucket.stream_config, ttl):
        span = format_exact_duration(raised)
        env.say(f"warning: it expires after {span}: with a history, TTLs below --marker-ttl are raised to it")


async def warn_of_older(env: Env, bucket: Bucket, key: str, ttl: int) -> None:
    """Warn when a value that was stored with a TTL (ns) leaves an older one when it expires."""
    if not ttl or bucket.stream_config.get("max_msgs_per_subject") == 1:
        return
    from jsctl.jetstream.kv import read

    try:
        entries = [entry async for page in read.fetch_history(bucket, key) for entry in page]
    except JsctlError:
        return
    if not entries:
        return
    end = _find_end(entries[-1])
    older = next((one for one in reversed(entries[:-1]) if not 0 < _find_end(one) <= end), None)
    if older and older.is_value:
        number = older.revision
        env.say(f"warning: when it expires, the value before it, revision {number}, is that of the key again")


def _find_end(entry: "Entry") -> int:
    """Return when an entry expires, in ns since the epoch; 0 for never."""
    from jsctl.jetstream.message.schedule import parse_ttl

    ttl = parse_ttl(entry.ttl)
    return parse_time_ns(entry.time) + ttl if ttl > 0 else 0
