"""Declared values of buckets: `values: {key: text}`, or a file with such an object. Keys that no file names
stay as they are, and a value that somebody else stores meanwhile is not overwritten."""

import contextlib
from pathlib import Path
from typing import Any

from jsctl.base.files import read_text
from jsctl.base.loops import gather
from jsctl.base.user_folders import expand_home
from jsctl.errors import ApiError, BadInput, JsctlError
from jsctl.jetstream.config.differences import Difference
from jsctl.jetstream.config.documents import parse_document
from jsctl.jetstream.config.kind import Json, Text
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.declared.model import Stream
from jsctl.jetstream.declared.step import Step, Target
from jsctl.jetstream.kv import read, write
from jsctl.jetstream.kv.bucket import Bucket, open_bucket
from jsctl.jetstream.kv.entry import DELETE, Entry
from jsctl.jetstream.kv.names import stream_to_bucket, validate_new_key
from jsctl.jetstream.stream import requests as streams

PART = "values"  #: of steps that store some
_TEXT = Text()


class _Present(str):
    """A present value that no output shows. revision: of its entry."""

    revision: int = 0


class _HiddenText(Text):
    """Text that no output shows, only whether it is there and is another one."""

    def format(self, value: Any) -> str:
        return str(self.mask(value))

    def mask(self, value: Any) -> Any:
        if value is None:
            return None
        return f"(hidden, revision {value.revision})" if isinstance(value, _Present) else "(hidden)"


_HIDDEN = _HiddenText()


def read_values(bucket: Node) -> tuple[dict[str, str], frozenset[str]]:
    """Return the values that a bucket of a file declares, by key, and the keys of those that are not shown:
    they come from a file of their own. Raises BadInput."""
    keys = bucket.as_object("a bucket")
    values: dict[str, str] = {}
    source = keys.get("values_from")
    if source is not None and source.value is not None:
        path = expand_home(source.as_text("values_from"))
        folder = Path(source.file).parent if source.file not in ("stdin", "-") else Path()
        try:
            text = read_text(folder / path)
        except JsctlError as error:
            raise source.error(f"values_from: {error.message}", error.hint) from None
        document = parse_document(text, str(path))
        values.update(_read_object(document, str(path)))
    shown: dict[str, str] = {}
    if "values" in keys and keys["values"].value is not None:
        shown = _read_object(keys["values"], "values")
    return {**values, **shown}, frozenset(values.keys() - shown.keys())


def _read_object(node: Node, label: str) -> dict[str, str]:
    values = {}
    for key, value in node.as_object(label).items():
        try:
            validate_new_key(key)
        except (BadInput, ValueError) as error:
            raise value.error(f"{label}: {error}") from None
        values[key] = value.as_text(f"{label}.{key}")
    return values


async def compare_values(bucket: Stream, target: Target, info: Json | None) -> Step | None:
    """Return the step that stores the values that differ; None without any. info: of the bucket's stream;
    None if there is none."""
    if not bucket.values or bucket.kind is None:
        return None
    present: dict[str, str | None] = dict.fromkeys(bucket.values)
    if info is not None:
        store = await open_bucket(target.api, bucket.kind.stream_to_bucket(bucket.name))
        entries = await gather(read.fetch_newest_entry(store, key) for key in bucket.values)
        present = {
            key: _get_text(entry, is_hidden=key in bucket.hidden)
            for key, entry in zip(bucket.values, entries, strict=True)
        }
    changes = [
        Difference(f"values.{key}", present[key], value, _HIDDEN if key in bucket.hidden else _TEXT)
        for key, value in bucket.values.items()
        if present[key] != value
    ]
    if not changes:
        return None
    step = Step("change", target, bucket.name, "", bucket.position, {}, {}, changes, kind=bucket.kind)
    return step._replace(item=bucket, part=PART)


async def store_values(step: Step) -> None:
    """Store the values of a step, each only if the present one is that of the plan, and all or none of them.
    Raises ApiError, JsctlError."""
    store = await open_bucket(step.target.api, stream_to_bucket(step.stream))
    stored: list[Difference] = []
    try:
        for change in step.changes:
            await _replace(store, change, change.before, change.after)
            stored.append(change)
    except JsctlError:
        with contextlib.suppress(JsctlError):
            await restore_values(step._replace(changes=stored))
        raise


async def restore_values(step: Step) -> None:
    """Store the values from before a step again. Raises ApiError, and JsctlError for one that was changed
    since."""
    store = await open_bucket(step.target.api, stream_to_bucket(step.stream))
    for change in step.changes:
        await _replace(store, change, change.after, change.before)


async def _replace(store: Bucket, change: Difference, old: str | None, new: str | None) -> None:
    """Replace the value of a key, or remove it, if it is the old one."""
    key = change.key.partition(".")[2]
    entry = await read.fetch_newest_entry(store, key)
    if _get_text(entry) != old:
        raise JsctlError(f"the value of {key} was changed since the plan was made", "run it again")
    if new is None:
        await _remove(store, key, entry.revision if entry else 0)
    else:
        await write.put(store, key, new.encode(), expected=entry.revision if entry else 0)


async def _remove(store: Bucket, key: str, revision: int) -> None:
    """Remove the only value that a key ever had, for which nothing needs room; mark others as deleted."""
    subject = store.prefix + key
    if store.prefix == store.target:
        with contextlib.suppress(ApiError):
            if (await streams.count_subjects(store.api, store.stream, subject)).get(subject) == 1:
                await streams.purge(store.api, store.stream, subject=subject, sequence=revision + 1)
                return
    await write.mark(store, key, DELETE)


def _get_text(entry: Entry | None, *, is_hidden: bool = False) -> str | None:
    """Return the value of an entry as text; None for a key without a value."""
    if not entry or not entry.is_value:
        return None
    text = entry.value.decode(errors="backslashreplace")
    if not is_hidden:
        return text
    present = _Present(text)
    present.revision = entry.revision
    return present
