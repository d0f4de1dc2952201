"""Which of a noun's things is meant, when its name may be left out."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from jsctl import registry
from jsctl.commands.shared.nouns import list_names, load
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Api
from jsctl.nats.subjects import check_name
from jsctl.registry import Noun


async def pick(
    env: Env,
    noun: Noun,
    name: str,
    *,
    parent: str = "",
    api: Api | None = None,
    message: str = "",
    default: str = "",
) -> str:
    """The name from the command line or, when it was left out, the one that the user picks from a list.

    parent: the name of the thing that it is in. api: where to look, instead of the command line's API.
    default: the name that is marked at first.

    Raises BadInput for a name that none can have, and when it was left out and there is no terminal;
    NotFound when there is none to pick.
    """
    if name:
        return name if noun.offline else valid_name(noun, name)
    if not env.can_ask:
        raise BadInput(
            f"the {noun.name}'s name is missing",
            f"give {noun.argument}; without a terminal none can be picked",
        )
    names = await _shown_names(env, noun, parent, api)
    if not names:
        where = f"{noun.parent} {parent} has no {noun.name}s" if parent else f"there are no {noun.name}s"
        raise NotFound(f"{where} to pick from", noun.create)
    question = message or f"Select a {noun.label}"
    marked = default if default in names else None
    return str(await env.prompter.select(question, names, flag=noun.argument, default=marked))


async def pick_several(
    env: Env, noun: Noun, names: Sequence[str], *, api: Api | None = None, message: str = ""
) -> list[str]:
    """The names from the command line, also by patterns such as `ORDERS_*`, each once; without any, the
    one that the user picks.

    A pattern leaves out what lists leave out, unless --all was given. Raises NotFound for a pattern that
    matches none, and what `pick` raises.
    """
    if not names:
        return [await pick(env, noun, "", api=api, message=message)]
    chosen: dict[str, None] = {}
    known: list[str] | None = None
    for name in names:
        if not any(mark in name for mark in "*?["):
            chosen[valid_name(noun, name)] = None
            continue
        if known is None:
            known = await _shown_names(env, noun, "", api)
        matching = [one for one in known if fnmatchcase(one, name)]
        if not matching:
            raise NotFound(f"no {noun.name} matches {name}", noun.hint)
        chosen.update(dict.fromkeys(matching))
    return list(chosen)


def valid_name(noun: Noun, name: str) -> str:
    """A name from the command line. Raises BadInput for one that none can have."""
    try:
        return check_name(name, noun.name)
    except ValueError as error:
        raise BadInput(str(error)) from None


async def _shown_names(env: Env, noun: Noun, parent: str, api: Api | None) -> list[str]:
    names = await list_names(env, noun, parent, api)
    if not noun.hidden or env.flags.get(f"all_{noun.name}s"):
        return names
    is_hidden = load(noun.hidden)
    return [name for name in names if not is_hidden(name)]


# -- streams and consumers --------------------------------------------------------------------------


def stream_name(name: str) -> str:
    """As `valid_name`, of a stream."""
    return valid_name(registry.noun("stream"), name)


def consumer_name(name: str) -> str:
    """As `valid_name`, of a consumer."""
    return valid_name(registry.noun("consumer"), name)


async def pick_stream(env: Env, api: Api, name: str, *, message: str = "") -> str:
    """As `pick`, of a stream."""
    return await pick(env, registry.noun("stream"), name, api=api, message=message)


async def pick_streams(env: Env, api: Api, names: Sequence[str], message: str = "") -> list[str]:
    """As `pick_several`, of streams."""
    return await pick_several(env, registry.noun("stream"), names, api=api, message=message)


async def pick_consumer(env: Env, api: Api, stream: str, consumer: str) -> tuple[str, str]:
    """As `pick`, of a stream and a consumer of it."""
    stream = await pick_stream(env, api, stream)
    return stream, await pick(env, registry.noun("consumer"), consumer, parent=stream, api=api)
