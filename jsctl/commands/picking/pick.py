"""Names that the command line leaves out, and that the user picks."""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from jsctl import registry
from jsctl.commands.picking.nouns import list_names, load
from jsctl.commands.picking.system_streams import format_hidden_hint, format_only_hidden_hint
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Api
from jsctl.nats.subjects import validate_existing_name
from jsctl.registry.noun_record import Noun

if TYPE_CHECKING:
    from jsctl.prompts.prompter import Check, Prompter


async def pick(
    env: Env,
    noun_name: str,
    name: str,
    *,
    parent: str = "",
    api: Api | None = None,
    default: str = "",
    prompter: "Prompter | None" = None,
) -> str:
    """Return the name on the command line or, without one, the name that the user picks from a list.

    noun_name: "stream". parent: the name of the thing that contains it. api: used instead of the command
    line's API. default: the name that is marked first. prompter: asks instead of the terminal's.

    Raises BadInput for a name that is not valid, and without a name and a terminal; NotFound when there is
    nothing to pick.
    """
    noun = registry.find_noun(noun_name)
    if name:
        return name if noun.offline else validate_name(noun_name, name)
    if not env.can_ask:
        raise BadInput(
            f"the {noun.name}'s name is missing",
            f"specify {noun.argument}; without a terminal none can be picked",
        )
    names, hidden = await _list_shown_and_hidden(env, noun, parent, api)
    if not names:
        if hidden:
            raise NotFound(
                f"there are no other {noun.name}s to pick from", format_only_hidden_hint(len(hidden))
            )
        where = f"{noun.parent} {parent} has no {noun.name}s" if parent else f"there are no {noun.name}s"
        raise NotFound(f"{where} to pick from", noun.format_create())
    if hidden:
        env.inform(f"jsctl: {format_hidden_hint(len(hidden))}")
    question = f"Select a {noun.label}"
    marked = default if default in names else None
    return str(await (prompter or env.prompter).select(question, names, flag=noun.argument, default=marked))


def require_names(**names: str) -> None:
    """Raise BadInput if a name is missing, for --no-select. names: those on the command line, by noun."""
    if all(names.values()):
        return
    nouns = [registry.find_noun(name) for name in names]
    missing = f"the {nouns[0].name}'s name" if len(nouns) == 1 else "a name"
    raise BadInput(f"{missing} is missing", f"specify {' and '.join(noun.argument for noun in nouns)}")


async def pick_streams(env: Env, api: Api, names: Sequence[str]) -> list[str]:
    """Return the streams on the command line, and those that match its patterns such as `ORDERS_*`, each
    once. Without any, the name that the user picks.

    Patterns do not match hidden names, except with --all; how many they would match is shown. Raises
    NotFound for a pattern that matches nothing, and what `pick` raises.
    """
    if not names:
        return [await pick_stream(env, api, "")]
    noun = registry.find_noun("stream")
    picked: dict[str, None] = {}
    shown_names: Sequence[str] | None = None
    hidden: Sequence[str] = ()
    left_out: set[str] = set()
    for name in names if not env.missing_ok else await _keep_present(env, noun, names, api):
        if not is_pattern(name):
            picked[validate_stream_name(name)] = None
            continue
        if shown_names is None:
            shown_names, hidden = await _list_shown_and_hidden(env, noun, "", api)
        exact = validate_stream_name(name) if "\\" in name else name
        matching = (
            [exact]
            if exact in shown_names
            else [candidate for candidate in shown_names if fnmatchcase(candidate, name)]
        )
        hidden_matches = [candidate for candidate in hidden if fnmatchcase(candidate, name)]
        if not matching:
            hint = format_only_hidden_hint(len(hidden_matches)) if hidden_matches else noun.format_hint()
            raise NotFound(f"no {noun.name} matches {name}", hint)
        left_out.update(hidden_matches)
        picked.update(dict.fromkeys(matching))
    if left_out := left_out - set(picked):
        env.inform(f"jsctl: {format_hidden_hint(len(left_out))}")
    return list(picked)


def is_pattern(name: str) -> bool:
    """Return whether a name on the command line may be a pattern of streams' names."""
    return any(mark in name for mark in "*?[")


async def _keep_present(env: Env, noun: Noun, names: Sequence[str], api: Api) -> list[str]:
    """Return the names and patterns that stand for something that exists, for --missing-ok. Raises NotFound
    if none does.
    """
    known = await list_names(env, noun, "", api)
    present, error = list[str](), None
    for name in names:
        if name in known or any(fnmatchcase(candidate, name) for candidate in known):
            present.append(name)
            continue
        shown = name if is_pattern(name) else validate_stream_name(name)
        error = NotFound(f"there is no {noun.name} {shown}")
        if len(names) > 1:
            env.report_missing(error)
    if error is not None and not present:
        raise NotFound(error.message if len(names) == 1 else "nothing was changed")
    return present


def validate_name(noun_name: str, name: str) -> str:
    """Return a name from the command line. Raises BadInput for one that is not valid."""
    noun = registry.find_noun(noun_name)
    if noun.any_text:
        return name
    try:
        return validate_existing_name(name, noun.name)
    except ValueError as error:
        raise BadInput(str(error)) from None


async def _list_shown_and_hidden(
    env: Env, noun: Noun, parent: str, api: Api | None
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the names that lists show, and those that they hide."""
    names = await list_names(env, noun, parent, api)
    if not noun.hidden or env.flags.get(f"all_{noun.name}s"):
        return names, ()
    is_hidden = load(noun.hidden)
    return [name for name in names if not is_hidden(name)], [name for name in names if is_hidden(name)]


# -- streams and consumers --------------------------------------------------------------------------


def validate_stream_name(name: str) -> str:
    """Return the name of a stream. Raises BadInput for one that is not valid."""
    return validate_name("stream", name)


async def pick_stream(env: Env, api: Api, name: str, *, prompter: "Prompter | None" = None) -> str:
    """Pick a stream; see `pick`."""
    return await pick(env, "stream", name, api=api, prompter=prompter)


async def open_stream(env: Env, name: str) -> tuple[Api, str]:
    """Return the JetStream API of the command line, and a stream; see `pick`."""
    api = await env.jetstream()
    return api, await pick_stream(env, api, name)


async def open_matching_streams(env: Env, name: str) -> tuple[Api, list[str]] | None:
    """Return the JetStream API of the command line, and the streams that a pattern matches; None for the name
    of one stream. See `pick_streams`."""
    if not is_pattern(name):
        return None
    api = await env.jetstream()
    names = await pick_streams(env, api, [name])
    return None if names == [name] else (api, names)


async def open_consumer(env: Env, stream: str, consumer: str) -> tuple[Api, str, str]:
    """Return the JetStream API of the command line, a stream, and a consumer of it; see `pick`."""
    api, stream = await open_stream(env, stream)
    return api, stream, await pick(env, "consumer", consumer, parent=stream, api=api)


async def pick_peer(env: Env, peer: str, names: Collection[str]) -> str:
    """Return the server that was named, or one of those of a stream or consumer that the user picks.

    Raises BadInput without a terminal.
    """
    if peer:
        return peer
    if not env.can_ask:
        raise BadInput("the peer's name is missing", f"specify PEER, one of {', '.join(sorted(names))}")
    return str(await env.prompter.select("Select a Peer", list(names), flag="PEER"))


async def ask_bucket(env: Env, check: "Check") -> str:
    """Return the name of a new bucket that the user types. Raises BadInput without a terminal."""
    if not env.can_ask:
        raise BadInput("the bucket's name is missing", "specify BUCKET")
    return await env.prompter.text("Bucket Name", flag="BUCKET", check=check)
