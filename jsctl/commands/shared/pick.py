"""Which stream or consumer is meant, when it may be left out."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Api
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import check_name


def stream_name(name: str) -> str:
    """A stream name from the command line. Raises BadInput for one that no stream can have."""
    try:
        return check_name(name)
    except ValueError as error:
        raise BadInput(str(error)) from None


async def pick_stream(env: Env, api: Api, name: str, *, message: str = "Select a Stream") -> str:
    """The stream that was named, or one that the user picks from a list.

    Raises BadInput when it was left out and there is no terminal, NotFound when there is none to pick.
    """
    if name:
        return stream_name(name)
    if not env.can_ask:
        raise BadInput("the stream's name is missing", "give STREAM; without a terminal none can be picked")
    everything = env.flags.get("all_streams")
    found = sorted(n for n in await streams.names(api) if everything or not streams.is_internal(n))
    if not found:
        raise NotFound("there are no streams to pick from", "jsctl stream add makes one")
    return str(await env.prompter.select(message, found, flag="STREAM"))


async def pick_streams(
    env: Env, api: Api, names: Sequence[str], message: str = "Select a Stream"
) -> list[str]:
    """The streams that were named, also by patterns such as `ORDERS_*`, each once; without any, the one
    that the user picks.

    A pattern leaves out the streams of buckets and the system, unless --all was given. Raises NotFound
    for a pattern that matches none, and what pick_stream raises.
    """
    if not names:
        return [await pick_stream(env, api, "", message=message)]
    found: dict[str, None] = {}
    known: list[str] | None = None
    for name in names:
        if not any(mark in name for mark in "*?["):
            found[stream_name(name)] = None
            continue
        if known is None:
            everything = env.flags.get("all_streams")
            known = sorted(n for n in await streams.names(api) if everything or not streams.is_internal(n))
        matching = [n for n in known if fnmatchcase(n, name)]
        if not matching:
            raise NotFound(f"no stream matches {name}", "jsctl stream ls shows what is there")
        found.update(dict.fromkeys(matching))
    return list(found)


def consumer_name(name: str) -> str:
    """A consumer name from the command line. Raises BadInput for one that no consumer can have."""
    try:
        return check_name(name, "consumer")
    except ValueError as error:
        raise BadInput(str(error)) from None


async def pick_consumer(env: Env, api: Api, stream: str, consumer: str) -> tuple[str, str]:
    """The stream and consumer that were named, or that the user picks from lists.

    Raises BadInput when one was left out and there is no terminal, NotFound when there is none to pick.
    """
    stream = await pick_stream(env, api, stream)
    if consumer:
        return stream, consumer_name(consumer)
    found = sorted(await consumers.names(api, stream))
    if not env.can_ask:
        raise BadInput(
            "the consumer's name is missing", "give CONSUMER; without a terminal none can be picked"
        )
    if not found:
        raise NotFound(f"stream {stream} has no consumers to pick from", "jsctl consumer add makes one")
    return stream, str(await env.prompter.select("Select a Consumer", found, flag="CONSUMER"))
