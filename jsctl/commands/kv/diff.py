"""`jsctl kv diff`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.kv.shared import open_named, parse_patterns
from jsctl.env import Env
from jsctl.jetstream.identity import are_same
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.compare import compare
from jsctl.views.kv import diff as view
from jsctl.views.result import Result


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
async def diff(
    env: Env,
    bucket: str,
    other: str,
    keys: tuple[str, ...],
    from_context: str,
    to_context: str,
    from_domain: str | None,
    to_domain: str | None,
) -> Result:
    """Compare the newest values of all keys, or of those that match KEY; deleted keys count as missing.
    NAME@DOMAIN is a bucket of another JetStream domain.
    """
    patterns = parse_patterns(env, keys)
    first = await _open_bucket(env, bucket, from_context, from_domain)
    second = await _open_bucket(env, other, to_context, to_domain)
    differing, same = await compare(first, second, patterns)
    label = _format_label(bucket, from_context, from_domain)
    other_label = _format_label(other, to_context, to_domain)
    if label == other_label:
        label, other_label = f"{label} (first)", f"{other_label} (second)"
    if not differing and first.name == second.name and await are_same([first.api, second.api]):
        other_label += ", the same bucket,"
    return view.differences(label, other_label, differing, same)


async def _open_bucket(env: Env, text: str, context: str, domain: str | None) -> Bucket:
    name, mark, name_domain = text.partition("@")
    api = await env.jetstream(context or None, name_domain if mark else domain)
    return await open_named(env, name, api)


def _format_label(name: str, context: str, domain: str | None) -> str:
    bucket = name if "@" in name or not domain else f"{name}@{domain}"
    return f"{bucket} of {context}" if context else bucket
