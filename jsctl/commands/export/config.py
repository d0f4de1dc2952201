"""`jsctl export config`."""

from fnmatch import fnmatchcase

from jsctl import registry
from jsctl.commands.cli import argument, command, option
from jsctl.commands.report.targets import targets
from jsctl.commands.shared.declared import connections
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.files import open_output
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.declared import write
from jsctl.jetstream.stream import requests as streams
from jsctl.render.text import clean_lines
from jsctl.views.result import Result, Text
from jsctl.views.shared.text import plural

Found = tuple[Json, bool]
"""A stream's configuration, and whether it has consumers."""


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
) -> Result | None:
    """Applying the file changes nothing. --context and --js-domain may be given several times. Consumers
    without a durable name come and go, and are left out.
    """
    wanted = targets(env)
    made: list[Json] = []
    lost: list[str] = []
    for settings, connection in zip(wanted, await connections(env, wanted), strict=True):
        api = Api(connection, domain=settings.js_domain, prefix=settings.js_api_prefix, trace=env.trace)
        place = _place(env, settings)
        found = await _found(env, api, stream, all_streams)
        listed = await _consumers(api, found) if with_consumers else {}
        lost += [name for some in listed.values() for name in some.missing]
        for config, _ in found:
            name = config["name"]
            configs = [one["config"] for one in listed[name].infos] if name in listed else []
            lasting = [one for one in configs if write.is_durable(one)]
            lost += [one["name"] for one in configs if not write.is_durable(one)]
            made.append(write.declare_stream(config, lasting, place if len(wanted) > 1 else {}))
    _refuse_none(stream, made)
    if lost:
        env.say(f"left out: {plural(len(lost), 'consumer')} without a durable name or answer")
    document: Json = {**(_place(env, wanted[0]) if len(wanted) == 1 else {}), "streams": made}
    if output == "-" and env.wants_json:
        return Result(data=document)
    if output == "-":
        env.streams.stdout.writelines(map(clean_lines, write.render_yaml(document)))
        return None
    with open_output(output) as file:
        file.writelines(piece.encode() for piece in write.render_yaml(document))
    count = sum(len(one.get("consumers", ())) for one in made)
    told = f"wrote {plural(len(made), 'stream')} and {plural(count, 'consumer')} to {output}"
    return Result([Text(told)], data=document)


async def _found(env: Env, api: Api, patterns: tuple[str, ...], everything: bool) -> list[Found]:
    """The streams that were asked for, by name."""

    def keep(info: Json) -> Found | None:
        name = info["config"]["name"]
        matches = any(fnmatchcase(name, one) for one in patterns) if patterns else True
        if not matches or not (everything or name in patterns or not streams.is_internal(name)):
            return None
        return info["config"], bool(info["state"].get("consumer_count"))

    found = await streams.collect(api, keep)
    if gone := [*found.missing, *found.offline]:
        env.say(f"left out: {plural(len(gone), 'stream')} that cannot be asked: {', '.join(gone)}")
    return [found.items[name] for name in sorted(found.items)]


async def _consumers(api: Api, found: list[Found]) -> dict[str, consumers.ConsumerList]:
    names = [config["name"] for config, has_consumers in found if has_consumers]
    return {one.stream: one for one in await consumers.listings(api, names)}


def _place(env: Env, settings: Settings) -> dict[str, str]:
    """What the line said of where the streams are; without it the file fits any place."""
    said = {"context": settings.context} if env.given.get("context") else {}
    return {**said, "domain": settings.js_domain} if env.given.get("js_domain") else said


def _refuse_none(patterns: tuple[str, ...], made: list[Json]) -> None:
    for one in patterns:
        if not any(fnmatchcase(stream["name"], one) for stream in made):
            raise NotFound(f"no stream matches {one}", registry.noun("stream").hint)
