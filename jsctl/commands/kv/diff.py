"""`jsctl kv diff`."""

from dataclasses import dataclass

from jsctl.commands.cli import argument, command, option
from jsctl.commands.kv.shared import open_named, parse_patterns
from jsctl.env import Env
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.compare import compare
from jsctl.views.kv import diff as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """bucket, other: NAME or NAME@DOMAIN. Contexts: empty for that of the command line; domains: None."""

    bucket: str
    other: str
    keys: tuple[str, ...]
    from_context: str
    to_context: str
    from_domain: str | None
    to_domain: str | None


@command(
    "diff",
    columns=(),
    examples=[
        "jsctl kv diff CONFIG CONFIG_OLD",
        "jsctl kv diff CONFIG CONFIG@leaf",
        "jsctl kv diff CONFIG CONFIG --from-context east --to-context west",
        "jsctl kv diff CONFIG CONFIG_OLD 'user.*' --json",
    ],
)
@argument("bucket")
@argument("other", noun="bucket", metavar="BUCKET")
@argument("keys", metavar="[KEY]...", nargs=-1, completes="key")
@option("--from-context", metavar="NAME", default="", noun="context", help="Context of the first bucket")
@option("--to-context", metavar="NAME", default="", noun="context", help="Context of the second bucket")
@option("--from-domain", metavar="DOMAIN", default=None, help="JetStream domain of the first bucket")
@option("--to-domain", metavar="DOMAIN", default=None, help="JetStream domain of the second bucket")
async def diff(env: Env, options: Options) -> Result:
    """Compare the newest values of all keys, or of those that match KEY; deleted keys count as missing.
    NAME@DOMAIN is a bucket of another JetStream domain.
    """
    patterns = parse_patterns(env, options.keys)
    first = await _open_bucket(env, options.bucket, options.from_context, options.from_domain)
    other = await _open_bucket(env, options.other, options.to_context, options.to_domain)
    differing, same = await compare(first, other, patterns)
    labels = _build_labels(options)
    return view.differences(*labels, differing, same)


async def _open_bucket(env: Env, text: str, context: str, domain: str | None) -> Bucket:
    name, mark, name_domain = text.partition("@")
    api = await env.jetstream(context or None, name_domain if mark else domain)
    return await open_named(env, name, api)


def _build_labels(options: Options) -> tuple[str, str]:
    """Return the labels of both buckets, with context and domain where these are given; they always
    differ.
    """
    first = _format_label(options.bucket, options.from_context, options.from_domain)
    second = _format_label(options.other, options.to_context, options.to_domain)
    return (f"{first} (first)", f"{second} (second)") if first == second else (first, second)


def _format_label(name: str, context: str, domain: str | None) -> str:
    bucket = name if "@" in name or not domain else f"{name}@{domain}"
    return f"{bucket} of {context}" if context else bucket
