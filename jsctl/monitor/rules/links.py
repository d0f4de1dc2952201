"""The rules of mirrors and sources that need both ends: loops, filters that never match, missing origins,
copies that are full, ahead, or hold other messages. No I/O."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.command_lines import Suggestion, build_flag
from jsctl.base.units import format_count, pluralize
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.origins import format_origin, list_origin_filters
from jsctl.jetstream.message.held import WRONG_SEQUENCES
from jsctl.jetstream.message.progress import Progress
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.trouble import Trouble
from jsctl.nats.subjects import overlaps

_MAX_STEPS = 10_000  #: of the search for loops
_MAX_HOPS = 16  #: streams in a loop
_MAX_LOOPS = 20  #: that are named

Node = tuple[Hashable, str]
"""A stream: where it is, and its name."""


PROBE = "jsctl-doctor"
"""Name of the consumer and the stream in requests that a server is expected to refuse."""


def build_create_subject(origin: Mapping[str, Any]) -> str:
    """Return the subject, below the API prefix, on which a mirror or source creates its consumer. origin: its
    part of the stream's configuration.

    With a filter it is longer (nats-server: stream.go, setupMirrorConsumer).
    """
    name, filters = origin.get("name", ""), list_origin_filters(origin)
    if len(filters) == 1:
        return f"CONSUMER.CREATE.{name}.{PROBE}.{filters[0]}"
    return f"CONSUMER.CREATE.{name}" + (f".{PROBE}" if filters else "")


class Edge(NamedTuple):
    """A mirror or source. to, origin: the copying stream, and the one it copies. config: its part of the
    stream's configuration. sources: all of the stream, as configured. key: what identifies it for the caller.
    """

    to: Node
    origin: Node
    kind: str
    config: Json
    sources: Sequence[Json]
    key: Hashable

    @property
    def filters(self) -> list[tuple[str, str]]:
        """The filters, each with the subject that its messages get; ">" stands for all, "" for unchanged."""
        transforms = self.config.get("subject_transforms") or ()
        pairs = [(str(each.get("src") or ">"), str(each.get("dest") or "")) for each in transforms]
        return pairs or [(str(self.config.get("filter_subject") or ">"), "")]


class Ends(NamedTuple):
    """What is known of the streams at both ends.

    subjects: by stream, what clients may publish to it. open: streams that also store what they copy or
    transform, so that they hold other subjects, too. transformed: those of them that transform. missing:
    streams that certainly do not exist. silent: those in domains where nobody answers. names: of streams for
    people, where they need more than their name.
    """

    subjects: Mapping[Node, Sequence[str]]
    open: frozenset[Node]
    transformed: frozenset[Node]
    missing: frozenset[Node] = frozenset()
    silent: frozenset[Node] = frozenset()
    names: Mapping[Node, str] = {}

    def name(self, node: Node) -> str:
        """Return the name of a stream for people."""
        return self.names.get(node, node[1])


def read_ends(infos: Iterable[tuple[Node, Json]]) -> Ends:
    """Return what configurations say of streams."""
    subjects: dict[Node, Sequence[str]] = {}
    opened, transformed = set(), set()
    for node, config in infos:
        subjects[node] = config.get("subjects") or ()
        if config.get("mirror") or config.get("sources") or config.get("subject_transform"):
            opened.add(node)
        if config.get("subject_transform"):
            transformed.add(node)
    return Ends(subjects, frozenset(opened), frozenset(transformed))


def check_progress(edge: Edge, ends: Ends, progress: Progress, *, refuses: bool) -> Iterator[Trouble]:
    """Yield what is wrong with what a mirror or source holds. progress: see `measure_progress`. refuses:
    see `state.is_full`."""
    origin, behind = ends.name(edge.origin), f"it is {pluralize(progress.lag, 'message')} behind"
    if progress.ahead:
        says = f"it is {pluralize(progress.ahead, 'sequence')} past the last one of {origin}"
        more = (
            ""
            if edge.kind == "mirror"
            else "; a server since 2.15 notices within half a minute, so wait first"
        )
        advice = f"the origin was made anew, or restored from an older backup: {ANEW}{more}"
        yield _describe_wrong(edge, f"{format_count(progress.ahead)} ahead", "LINK_AHEAD", says, advice)
    elif progress.differs:
        says = f"{origin} has other messages under the same sequences, and {behind}"
        yield _describe_wrong(edge, "differs from its origin", "LINK_DIFFERS", says, ANEW)
    elif refuses and edge.kind == "mirror":
        says = f"it has reached its limit and discards new messages: {behind} {origin}"
        advice = f"do not lift the limit: {WRONG_SEQUENCES}; {ANEW}"
        yield _describe_wrong(edge, "full", "MIRROR_FULL", says, advice, ["--discard", "old"])


ANEW = "make the copy anew, and remove this one once nobody reads it"


def _describe_wrong(
    edge: Edge, words: str, code: str, says: str, advice: str, flags: Sequence[str] = ()
) -> Trouble:
    """Return a trouble that only a new copy repairs. flags: its settings that differ."""
    name = edge.to[1]
    return Trouble(words, True, code, says, [Suggestion("stream copy", [name, f"{name}_NEW"], flags)], advice)


def check_links(edges: Sequence[Edge], ends: Ends) -> dict[Hashable, list[Trouble]]:
    """Return what is wrong with mirrors and sources, by their key."""
    troubles: dict[Hashable, list[Trouble]] = defaultdict(list)
    for edge in edges:
        if edge.origin in ends.missing:
            troubles[edge.key].append(_describe_missing(edge, ends))
        elif edge.origin in ends.silent:
            troubles[edge.key].append(_describe_silent(edge))
        elif impossible := _find_impossible_filters(edge, ends):
            troubles[edge.key].append(_describe_filter(edge, impossible, ends))
    for loop in find_loops(edges, ends):
        for edge in loop:
            if not any(trouble.code == "SOURCE_LOOP" for trouble in troubles[edge.key]):
                troubles[edge.key].append(_describe_loop(edge, loop, edges, ends))
    return dict(troubles)


def _describe_missing(edge: Edge, ends: Ends) -> Trouble:
    return Trouble(
        f"stream {ends.name(edge.origin)} does not exist",
        True,
        "ORIGIN_MISSING",
        f"it is a {edge.kind} of stream {ends.name(edge.origin)}, which does not exist",
        [] if edge.origin[0] else [Suggestion("stream add", [edge.origin[1]])],  # of this domain
    )


def _describe_silent(edge: Edge) -> Trouble:
    subject = f"{edge.origin[0]}.{build_create_subject(edge.config)}"
    return Trouble("its origin does not answer", True, "ORIGIN_SILENT", f"nobody answers on {subject}")


def _find_impossible_filters(edge: Edge, ends: Ends) -> list[str]:
    """Return the filters that no message of the origin can ever match."""
    subjects = ends.subjects.get(edge.origin)
    if not subjects or edge.origin in ends.open:
        return []
    return [
        source for source, _ in edge.filters if not any(overlaps(subject, source) for subject in subjects)
    ]


def _describe_filter(edge: Edge, impossible: Sequence[str], ends: Ends) -> Trouble:
    subjects = ends.subjects[edge.origin]
    return Trouble(
        "filter can never match",
        True,
        "FILTER_EMPTY",
        f"its {edge.kind} {ends.name(edge.origin)} has the filter {', '.join(impossible)}, and takes"
        f" {', '.join(subjects)} alone",
        _narrow(edge, subjects),
        "" if edge.kind == "source" else "the filter of a mirror stays as it is: create another mirror",
    )


def _narrow(edge: Edge, subjects: Sequence[str]) -> list[Suggestion]:
    """Return the line that gives a source the filter of its origin's own subject; none for a mirror and for
    several subjects."""
    if edge.kind != "source" or len(subjects) != 1:
        return []
    flags: list[str] = []
    for source in edge.sources:
        origin = source if source != edge.config else _with_filter(source, subjects[0])
        flags += build_flag("--source", format_origin(origin))
    return [Suggestion("stream edit", [edge.to[1]], flags)]


def _with_filter(source: Json, subject: str) -> Json:
    rest = {
        key: value for key, value in source.items() if key not in ("filter_subject", "subject_transforms")
    }
    return {**rest, "subject_transforms": [{"src": subject, "dest": ""}]}


def _describe_loop(edge: Edge, loop: Sequence[Edge], edges: Sequence[Edge], ends: Ends) -> Trouble:
    at = loop.index(edge)
    backwards = [loop[at - step].to for step in range(len(loop))]
    ring = ", which takes them from ".join(ends.name(node) for node in [*backwards, edge.to])
    lines = (
        _narrow(edge, ends.subjects.get(edge.origin) or ()) if _ends_when_narrowed(loop, edges, ends) else []
    )
    return Trouble("loop of sources", True, "SOURCE_LOOP", f"messages go round: {ring}", lines)


def _ends_when_narrowed(loop: Sequence[Edge], edges: Sequence[Edge], ends: Ends) -> bool:
    """Return whether a loop ends when each of its sources takes only what clients publish to its origin."""
    narrowed = []
    for edge in edges:
        subjects = ends.subjects.get(edge.origin) or ()
        if edge in loop:
            if not _narrow(edge, subjects):
                return False
            narrowed.append(edge._replace(config=_with_filter(edge.config, subjects[0])))
        else:
            narrowed.append(edge)
    keys = {member.key for member in loop}
    return not any(keys == {member.key for member in ring} for ring in find_loops(narrowed, ends))


def find_loops(edges: Sequence[Edge], ends: Ends) -> list[list[Edge]]:
    """Return the loops in which a message can go round for ever, each once, in the direction of the copies.

    A message goes on where the filter of the next copy lets it through. What a stream makes of subjects by a
    transform of its own is not known, so that no loop is found through it.
    """
    following: dict[Node, list[Edge]] = defaultdict(list)
    for edge in edges:
        following[edge.origin].append(edge)
    loops: list[list[Edge]] = []
    reported: set[frozenset[Any]] = set()
    steps = 0
    for start in edges:
        if not following.get(start.to):
            continue
        paths = [([start], subject) for subject in _pass_through(start, ">")]
        while paths and steps < _MAX_STEPS and len(loops) < _MAX_LOOPS:
            steps += 1
            path, subject = paths.pop()
            if path[-1].to in ends.transformed or len(path) > _MAX_HOPS:
                continue
            for edge in following.get(path[-1].to, ()):
                passing = _pass_through(edge, subject)
                if edge is start and passing:
                    if (members := frozenset(member.key for member in path)) not in reported:
                        reported.add(members)
                        loops.append(path)
                elif edge not in path:
                    paths += [([*path, edge], passed) for passed in passing]
    return loops


def _pass_through(edge: Edge, subject: str) -> list[str]:
    """Return the subjects that messages have after a copy. subject: of those before it."""
    passed = []
    for source, target in edge.filters:
        common = _intersect(source, subject)
        if common is not None:
            passed.append(_to_pattern(target) if target else common)
    return passed


def _to_pattern(target: str) -> str:
    """Return the subjects that the destination of a transform stands for: `a.$1` is `a.*`."""
    return ".".join("*" if "$" in token or "{{" in token else token for token in target.split("."))


def _intersect(first: str, second: str) -> str | None:
    """Return the pattern of what both match; None for nothing."""
    left, right = first.split("."), second.split(".")
    tokens: list[str] = []
    for at in range(max(len(left), len(right))):
        if at >= len(left) or at >= len(right):
            return None
        if left[at] == ">":
            return ".".join([*tokens, *right[at:]])
        if right[at] == ">":
            return ".".join([*tokens, *left[at:]])
        if "*" not in (left[at], right[at]) and left[at] != right[at]:
            return None
        tokens.append(right[at] if left[at] == "*" else left[at])
    return ".".join(tokens)


RULES = (
    Rule(
        "ORIGIN_MISSING",
        "a mirror or source of a stream that does not exist",
        "links",
        why="nothing is copied; once a stream of that name is created, all of it is",
        fix="create it",
    ),
    Rule(
        "ORIGIN_SILENT",
        "nobody answers where mirrors and sources copy from",
        "links",
        ("SERVER_SILENT", "IMPORT_DEAD", "DOMAIN_MISSING", "META_NO_LEADER", "JETSTREAM_SILENT"),
    ),
    Rule(
        "SOURCE_LOOP",
        "streams copy from each other in a circle",
        "links",
        why="each message goes round for ever, and is stored again until a limit or the disk ends it",
        fix="let each of these sources take only what clients publish to its origin",
    ),
    Rule(
        "FILTER_EMPTY",
        "a filter can never match a message",
        "links",
        why="nothing that the stream will ever store passes it",
        fix="set a filter that can match",
    ),
    Rule(
        "LINK_AHEAD",
        "a mirror or source is ahead of its origin",
        "links",
        why="nothing is copied until the origin is as far, and what it has stored again by then is missing",
    ),
    Rule(
        "LINK_DIFFERS",
        "a mirror holds other messages than its origin under the same sequences",
        "links",
        why="messages of the origin are missing for good, and sequences do not mean the same in both",
    ),
    Rule(
        "MIRROR_FULL",
        "a mirror that discards new messages is full",
        "links",
        why="what the origin stores is missing in it, and its server reports no lag",
    ),
)
