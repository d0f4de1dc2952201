"""What a rename does to the mirrors and sources of a stream: they copy from a name, and nothing tells them of
another one."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence

from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.origins import domain_to_api, find_reached, list_origins, pair_origins
from jsctl.jetstream.declared.step import Key, Step, Target
from jsctl.jetstream.stream import requests as streams


async def warn_of_renames(steps: Sequence[Step], targets: Iterable[Target]) -> list[str]:
    """Return sentences about the copies of streams that are renamed, wherever the login may list streams."""
    renames = [step for step in steps if step.action == "remove" and step.other_name]
    if not renames:
        return []
    by_key = {step.key: step for step in steps}
    distinct = {target.key: target for target in targets if not target.is_missing}.values()
    return [sentence for target in distinct async for sentence in _iterate_sentences(target, renames, by_key)]


async def _iterate_sentences(
    target: Target, renames: Sequence[Step], by_key: Mapping[Key, Step]
) -> AsyncIterator[str]:
    try:
        listed = await streams.collect(
            target.api, lambda info: info if list_origins(info["config"]) else None
        )
    except JsctlError:
        return  # the login may not list streams there
    for rename in renames:
        for name, info in listed.items.items():
            copied = [origin for origin in list_origins(info["config"]) if _is_from(origin, target, rename)]
            step = by_key.get((target.key, name, "", ""))
            if copied and name != rename.other_name and (step is None or step.after is not None):
                after = step.after if step and step.after else info["config"]
                last = next(
                    find_reached(info, state)
                    for origin, state in pair_origins(info)
                    if _is_from(origin, target, rename)
                )
                for text in _describe(rename, info["config"], after, target, last):
                    yield f"{rename.position}: stream {name}{_format_domain(target)} {text}"


def _describe(rename: Step, before: Json, after: Json, target: Target, last: int | None) -> Iterator[str]:
    old, new = rename.stream, rename.other_name
    start = f", start={last + 1}" if last is not None else " with a start"
    renewed = rename._replace(stream=new)
    if any(_is_from(origin, target, rename) for origin in list_origins(after)):
        what = "make it again" if after.get("mirror") else f"change its source to {new}{start}"
        yield f"copies {old}, which becomes {new}, and receives nothing any more: {what}"
    elif any(
        _is_from(origin, target, renewed)
        and not (origin.get("opt_start_seq") or origin.get("opt_start_time"))
        for origin in after.get("sources") or ()
    ):
        yield f"receives all of {new} again, which it has from {old}: name a start ({new}{start})"


def _is_from(origin: Json, target: Target, stream: Step) -> bool:
    """Return whether a mirror or source of a place copies a stream."""
    api = str((origin.get("external") or {}).get("api") or "")
    if str(origin["name"]) != stream.stream:
        return False
    return api == domain_to_api(stream.target.domain) if api else target.key == stream.target.key


def _format_domain(target: Target) -> str:
    return f" of domain {target.domain}" if target.domain else ""
