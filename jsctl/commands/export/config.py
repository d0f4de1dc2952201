"""`jsctl export config`."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from jsctl import registry
from jsctl.base.files import open_output
from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.declared.targets import open_connections
from jsctl.commands.picking.system_streams import format_hidden_hint, format_only_hidden_hint
from jsctl.commands.places.targets import resolve_targets
from jsctl.contexts.model import name_place
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound, Unreachable
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.declared import write
from jsctl.jetstream.declared.collect import collect_declarations
from jsctl.jetstream.declared.model import BUCKET_KINDS
from jsctl.jetstream.identity import find_first_places
from jsctl.render.delimited import TABLES
from jsctl.views.events import Events, text_in_pieces
from jsctl.views.result import Result, Text


@command(
    "config",
    examples=[
        "jsctl export config > streams.yaml",
        "jsctl export config 'LOGS_*' ORDERS --output logs.yaml",
        "jsctl export config --context hub --js-domain hub --js-domain leaf --output all.yaml",
    ],
)
@argument("stream", metavar="[STREAM|PATTERN]...", nargs=-1)
@option("--output", metavar="FILE", default="-", help="Write to this file instead of stdout")
@option("--consumers/--no-consumers", "with_consumers", default=True, help="With durable consumers (default)")
@option("--all", "-a", "all_streams", is_flag=True, help="With the streams of buckets and the system")
async def config(
    env: Env, stream: tuple[str, ...], output: str, with_consumers: bool, all_streams: bool
) -> Result | Events[str]:
    """Write a file that changes nothing when it is applied. --context and --js-domain may be repeated.
    Consumers without a durable name come and go, and are left out. If streams do not answer, they or
    their consumers are left out, too, and the status is 4.
    """
    if env.form in TABLES:
        raise BadInput(
            "a configuration has no table for CSV or TSV", "leave --as out for YAML, or use --json"
        )
    places = resolve_targets(env)
    declared: list[Json] = []
    buckets: dict[str, list[Json]] = {kind.key: [] for kind in BUCKET_KINDS}
    missing_consumers: list[str] = []
    missing_streams: list[str] = []
    hidden = 0
    apis = [
        Api(connection, domain=settings.js_domain, prefix=settings.js_api_prefix, trace=env.trace)
        for settings, connection in zip(places, await open_connections(env, places), strict=True)
    ]
    firsts = await find_first_places(apis)
    for number, (settings, api) in enumerate(zip(places, apis, strict=True)):
        if (first := firsts[number]) != number:
            env.say(f"{name_place(settings)} is the JetStream of {name_place(places[first])}, written once")
            continue
        collected = await collect_declarations(
            api,
            stream,
            _build_place(env, settings) if len(places) > 1 else {},
            with_internal=all_streams,
            with_consumers=with_consumers,
        )
        declared += collected.streams
        for key, items in collected.buckets.items():
            buckets[key] += items
        missing_consumers += collected.missing_consumers
        hidden += collected.hidden
        missing_streams += collected.missing_streams
    names = [item["name"] for item in declared]
    _check_patterns(stream, [*names, *_list_bucket_streams(buckets)], hidden)
    if hidden:
        env.inform(f"left out: {format_hidden_hint(hidden)}")
    if missing_consumers:
        env.say(f"left out: {pluralize(len(missing_consumers), 'consumer')} without a durable name or answer")
    error = None
    if missing_streams:
        error = Unreachable(
            f"{pluralize(len(missing_streams), 'stream')} did not answer, and are left out or lack consumers:"
            f" {', '.join(sorted(missing_streams))}",
            "start their servers, and export again",
        )
    document: Json = {**(_build_place(env, places[0]) if len(places) == 1 else {}), "streams": declared}
    document |= {key: items for key, items in buckets.items() if items}
    if output == "-" and env.wants_json:
        return Result(data=document, error=error)
    if output == "-":
        written = text_in_pieces(write.render_yaml(document))
        return written._replace(result=lambda: Result(error=error)) if error else written
    with open_output(output) as file:
        file.writelines(piece.encode() for piece in write.render_yaml(document))
    consumers = sum(len(item.get("consumers", ())) for item in declared)
    counts = [pluralize(len(declared), "stream"), pluralize(consumers, "consumer")]
    counts += [pluralize(len(buckets[kind.key]), kind.noun) for kind in BUCKET_KINDS if buckets[kind.key]]
    text = f"wrote {', '.join(counts[:-1])} and {counts[-1]} to {output}"
    return Result([Text(text, whole=True)], data=document, error=error)


def _list_bucket_streams(buckets: Mapping[str, Sequence[Json]]) -> list[str]:
    """Return the names of the streams that hold buckets."""
    return [kind.bucket_to_stream(bucket["name"]) for kind in BUCKET_KINDS for bucket in buckets[kind.key]]


def _build_place(env: Env, settings: Settings) -> dict[str, str]:
    """Return the context and domain that flags name. Without them, the file fits any place."""
    place = {"context": settings.context} if env.repeated.get("context") else {}
    return {**place, "domain": settings.js_domain} if env.repeated.get("js_domain") else place


def _check_patterns(patterns: Sequence[str], names: Sequence[str], hidden: int) -> None:
    """Raise NotFound for a pattern that matches no stream."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise NotFound(
                f"no stream matches {pattern}",
                format_only_hidden_hint(hidden) if hidden else registry.find_noun("stream").format_hint(),
            )
