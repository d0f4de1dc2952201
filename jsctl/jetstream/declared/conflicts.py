"""Declarations of all files together: what belongs to one stream is joined, and what excludes each other is
refused."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from jsctl.errors import BadInput
from jsctl.jetstream.config.origins import list_origins
from jsctl.jetstream.declared.model import Consumer, Stream
from jsctl.jetstream.declared.reader import refuse_twice
from jsctl.jetstream.declared.step import find_cycle

FindPlace = Callable[[Stream], object]
"""Returns a value that is equal for streams of the same place."""


def join_streams(
    streams: Sequence[Stream], find_place: FindPlace = lambda stream: stream.place
) -> list[Stream]:
    """Return the streams of all files, with the consumers that a file adds to a stream of another one joined
    to it. Raises BadInput for what excludes each other."""
    joined = _join_consumers(streams, find_place)
    _refuse_same_streams(joined, find_place)
    _refuse_same_renames(joined, find_place)
    _refuse_cycles(joined, find_place)
    return joined


def _join_consumers(streams: Sequence[Stream], find_place: FindPlace) -> list[Stream]:
    """Return the streams; consumers that a file adds to a stream that another one declares are among those of
    that stream, each with its own label. Raises BadInput for a consumer that is declared twice."""
    joined: dict[tuple[object, str], Stream] = {}
    others: list[Stream] = []
    for stream in sorted(streams, key=lambda stream: stream.is_bare):
        key = find_place(stream), stream.name
        first = joined.setdefault(key, stream)
        if first is stream:
            continue
        if not (stream.is_bare and stream.consumers) or stream.renamed_from:
            others.append(stream)
            continue
        consumers = [*first.consumers, *stream.consumers]
        refuse_same_consumers(consumers, stream.name)
        joined[key] = replace(first, consumers=tuple(consumers))
    order = {id(stream.config): number for number, stream in enumerate(streams)}
    return sorted([*joined.values(), *others], key=lambda stream: order[id(stream.config)])


def refuse_same_consumers(consumers: list[Consumer], stream: str) -> None:
    """Raise BadInput for a consumer of a stream that is declared twice."""
    by_name: dict[str, Consumer] = {}
    for consumer in consumers:
        refuse_twice(by_name, consumer.name, consumer, f"consumer {stream} > {consumer.name}")


def _refuse_same_streams(streams: Iterable[Stream], find_place: FindPlace) -> None:
    """Raise BadInput for a stream that is declared twice in one place."""
    by_key: dict[tuple[object, str], Stream] = {}
    for stream in streams:
        refuse_twice(by_key, (find_place(stream), stream.name), stream, f"stream {stream.name}")


def _refuse_same_renames(streams: Sequence[Stream], find_place: FindPlace) -> None:
    """Raise BadInput for an old name that is declared, too, or that several streams had."""
    by_key = {(find_place(stream), stream.name): stream for stream in streams}
    renamed: dict[tuple[object, str], Stream] = {}
    for stream in streams:
        if not stream.renamed_from:
            continue
        key = find_place(stream), stream.renamed_from
        if other := by_key.get(key):
            raise BadInput(
                f"{stream.position}: renamed_from: stream {stream.renamed_from} is declared, too, in"
                f" {other.position}",
                "rename first, then declare the old name again",
            )
        if (first := renamed.setdefault(key, stream)) is not stream:
            raise BadInput(
                f"{stream.position}: renamed_from: {first.name} had the name {stream.renamed_from}, too",
                f"first in {first.position}",
            )


def _refuse_cycles(streams: Sequence[Stream], find_place: FindPlace) -> None:
    """Raise BadInput for streams of one place that copy from each other in a cycle.

    The server refuses the last of them. Across several domains a cycle may be intended, with different
    filters for each stream.
    """
    by_key = {(find_place(stream), stream.name): stream for stream in streams}
    origins = {
        key: [origin for name in _list_local_origins(stream) if (origin := (key[0], name)) in by_key]
        for key, stream in by_key.items()
    }
    if cycle := find_cycle(origins):
        names = " -> ".join(name for _, name in cycle)
        position = by_key[cycle[-1]].position
        raise BadInput(f"{position}: streams copy from each other in a cycle: {names}")


def _list_local_origins(stream: Stream) -> Iterator[str]:
    for origin in list_origins(stream.config):
        if not (origin.get("external") or {}).get("api"):
            name = str(origin["name"])
            yield stream.kind.bucket_to_stream(name) if stream.kind else name
