"""Shell completion of the names of the registry's nouns.

It never fails and never waits long: after an error there are no completions. If a server does not answer in
time, the names of the previous completion are shown.
"""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from jsctl import registry
from jsctl.commands.cli.declare import find_name
from jsctl.commands.completing.listers import LOCAL_LISTERS, SERVER_LISTERS, find_first_name
from jsctl.commands.completing.value_kinds import (
    FILE,
    FOLDER,
    OR_FILE,
    find_path,
    find_value_kind,
    get_metavar,
)
from jsctl.commands.picking.nouns import list_names, list_offline
from jsctl.registry.top import NOUNS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from jsctl.env import Env

_MAX_SUBJECTS = 200  #: of a stream whose subjects are listed
_MAX_STREAMS = 8  #: whose subjects are listed


def complete_names(noun_name: str, ctx: click.Context, incomplete: str, parent: str = "") -> list[str]:
    """Return the names of a noun that begin with the incomplete word, in `parent`, by default the first one
    on the command line.
    """
    env: Env = ctx.obj
    noun = registry.find_noun(noun_name)
    parent = parent or find_name(ctx, noun.parent) or find_first_name(ctx, noun.parent)
    if noun.parent and not parent:
        return []
    if noun.offline:
        return _list_safe_names(lambda: list_offline(env, noun), incomplete)
    codec = ctx.params.get("codec") if noun.name == "key" else None

    def list_all() -> list[str]:
        names = _list_cached(env, noun.name, parent, lambda: list_names(env, noun, parent))
        return codec.decode_known(names) if codec else names

    return _list_safe_names(list_all, incomplete)


def complete_value(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the completions of a parameter without a completer of its own: names, or that it is a file."""
    from click.shell_completion import CompletionItem

    value_kind = find_value_kind(find_path(ctx), param)
    if value_kind in (FILE, FOLDER):
        return [CompletionItem(incomplete, type="file" if value_kind == FILE else "dir")]
    if value_kind == "subject":
        names = complete_subjects(ctx, incomplete)
    elif value_kind in NOUNS:
        names = complete_names(value_kind, ctx, incomplete)
    else:
        names = _list_safe_names(lambda: _list_kind(value_kind, ctx), incomplete)
    items = [CompletionItem(name) for name in names]
    return items or [CompletionItem(incomplete, type="file")] * (get_metavar(param) in OR_FILE)


def is_safe(name: str) -> bool:
    """Return whether a name may be completed: it has no control characters, and looks like neither a flag nor
    a file of arguments."""
    return name.isprintable() and not name.startswith(("-", "@"))


def _list_safe_names(list_all: Callable[[], list[str]], incomplete: str) -> list[str]:
    """Return the listed names that begin with the incomplete word and may be completed; none on an error."""
    try:
        return [name for name in list_all() if name.startswith(incomplete) and is_safe(name)]
    except Exception:  # a traceback in the middle of the command line would be worse than no names
        return []


def _list_kind(value_kind: str, ctx: click.Context) -> list[str]:
    if value_kind in LOCAL_LISTERS:
        return sorted(LOCAL_LISTERS[value_kind](ctx))
    if value_kind not in SERVER_LISTERS:
        return []
    env: Env = ctx.obj
    lister, parts = SERVER_LISTERS[value_kind]
    parents = [find_first_name(ctx, part) for part in parts]
    if value_kind != "peer" and not all(parents):
        return []

    async def list_all() -> list[str]:
        return sorted(filter(None, await lister(env, parents)))

    return _list_cached(env, value_kind, " ".join(parents), list_all)


def complete_subjects(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the subjects of streams that begin with the incomplete word: those of their messages, and their
    filters.
    """
    env: Env = ctx.obj
    return _list_safe_names(lambda: _list_cached(env, "subject", "", lambda: _list_subjects(env)), incomplete)


async def _list_subjects(env: "Env") -> list[str]:
    from jsctl.jetstream.stream import requests as streams

    api = await env.jetstream()
    infos = (await streams.collect(api, lambda info: info)).items
    user_streams = {name: info for name, info in infos.items() if not streams.is_internal(name)}
    subjects = {subject for info in user_streams.values() for subject in info["config"].get("subjects") or []}
    small_streams = [
        name for name, info in user_streams.items() if info["state"].get("num_subjects", 0) <= _MAX_SUBJECTS
    ]
    for name in sorted(small_streams)[:_MAX_STREAMS]:
        subjects |= (await streams.count_subjects(api, name, ">")).keys()
    return sorted(subjects)


def _list_cached(
    env: "Env", noun: str, parent: str, list_all: "Callable[[], Coroutine[Any, Any, list[str]]]"
) -> list[str]:
    """Return the names that a server lists; those of the cache where it does not answer in time."""
    from jsctl.base.loops import time_limit
    from jsctl.base.units import SECOND
    from jsctl.commands.completing.name_cache import NameCache, call_within, find_wait

    cache, now = NameCache.of(env.settings(), env.environ), env.clock()
    known = cache.find(noun, parent)
    if env.session:  # a shell is connected already, and has a time limit of its own
        try:
            return env.run(list_all())
        except TimeoutError:
            return list(known.names)
    wait = find_wait(env.environ, known.is_young(now))
    env.flags["timeout"] = max(int(wait * SECOND), 1)
    env.begin()  # which only the main thread can do

    async def list_in_time() -> list[str]:
        async with time_limit(wait):
            return await list_all()

    try:
        names = call_within(wait, lambda: env.run(list_in_time()))
    except Exception:  # the server is not there, or does not answer in time
        return list(known.names)
    if names != known.names or not known.is_young(now):
        with suppress(OSError):
            cache.store(noun, parent, names, now)
    return names
