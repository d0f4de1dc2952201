"""Random valid stream configurations come back as they went: through files, copies, declared streams and
backups of a real server."""

import itertools
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from jsctl.base.units import DAY, SECOND
from jsctl.jetstream.config.kind import is_server_metadata
from jsctl.jetstream.config.kinds import ListOf
from jsctl.jetstream.config.schema import Object
from jsctl.jetstream.stream.config import STREAM, StreamSchema
from tests.support.run import Cli

Json = dict[str, Any]

_numbers = itertools.count()
TEXT = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=12)
KEY = st.one_of(
    TEXT.filter(lambda key: not is_server_metadata(key)),
    st.sampled_from(["_nats.client.created.library", "_nats.x", "_nats."]),  # of clients
)
TOKEN = st.text(alphabet="abcXYZ019_-$", min_size=1, max_size=5)
LIMIT = st.one_of(st.just(-1), st.integers(1, 1 << 40))
SPAN = st.integers(2 * 120 * SECOND, 400 * DAY)


@contextmanager
def unaware(keys: Iterable[str]) -> Iterator[None]:
    """A jsctl that has never heard of these keys, while the server knows them."""
    unknown = frozenset(keys)
    known = [field for field in STREAM.fields if field.path[0] not in unknown]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(STREAM, "fields", known)
        patch.setattr(STREAM, "kinds", StreamSchema("stream", known).kinds)
        yield


def maybe(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Each key or not."""
    return st.fixed_dictionaries({}, optional=values)


START: st.SearchStrategy[Json] = st.one_of(
    st.just({}),
    st.integers(1, 1 << 40).map(lambda sequence: {"opt_start_seq": sequence}),
    st.just({"opt_start_time": "2026-11-21T06:57:05.000000001Z"}),
)
CHOICE: st.SearchStrategy[Json] = st.one_of(
    st.just({}),
    TOKEN.map(lambda token: {"filter_subject": f"from.{token}.>"}),
    TOKEN.map(lambda token: {"subject_transforms": [{"src": f"from.{token}.*", "dest": f"in.{token}.$1"}]}),
)
ELSEWHERE = maybe(
    external=st.sampled_from([{"api": "$JS.elsewhere.API"}, {"api": "JS.other", "deliver": "DELIVER.other"}])
)
DURABLE = st.just({"consumer": {"name": "DURABLE", "deliver_subject": "to.durable"}})  # it says the rest
ORIGIN = st.one_of(
    st.builds(lambda start, choice, place: {**start, **choice, **place}, START, CHOICE, ELSEWHERE),
    st.builds(lambda durable, place: {**durable, **place}, DURABLE, ELSEWHERE),
)

COMMON = maybe(
    description=TEXT,
    max_msgs=LIMIT,
    max_bytes=st.one_of(st.just(-1), st.integers(1, 1 << 24)),  # the server sets it aside
    max_msgs_per_subject=LIMIT,
    max_consumers=LIMIT,
    max_msg_size=st.one_of(st.just(-1), st.integers(1, 1 << 30)),
    max_age=st.one_of(st.just(0), SPAN),
    num_replicas=st.just(1),
    placement=st.sampled_from([{"cluster": "c1"}, {"tags": ["a", "b"]}, {"cluster": "c1", "tags": ["a"]}]),
    compression=st.sampled_from(["none", "s2"]),
    discard=st.sampled_from(["old", "new"]),
    metadata=st.dictionaries(KEY, TEXT, max_size=4),
    storage=st.sampled_from(["file", "memory"]),
    persist_mode=st.sampled_from(["default", "async"]),
    allow_direct=st.booleans(),
    allow_rollup_hdrs=st.booleans(),
    allow_msg_ttl=st.booleans(),
    deny_delete=st.booleans(),
    deny_purge=st.booleans(),
    consumer_limits=maybe(inactive_threshold=SPAN, max_ack_pending=st.integers(1, 10_000)),
    first_seq=st.integers(1, 1 << 40),
)
OWN = maybe(
    retention=st.sampled_from(["limits", "interest", "workqueue"]),
    no_ack=st.booleans(),
    allow_atomic=st.booleans(),
    allow_batched=st.booleans(),
    allow_msg_counter=st.booleans(),
    allow_msg_schedules=st.booleans(),
    subject_delete_marker_ttl=st.integers(SECOND, DAY),
    discard_new_per_subject=st.booleans(),
    duplicate_window=st.integers(100_000_000, 120 * SECOND),
    republish=st.sampled_from(
        [{"src": ">", "dest": "again.>"}, {"src": "in.*.*", "dest": "again.$2", "headers_only": True}]
    ),
    subject_transform=st.fixed_dictionaries(
        {
            "src": st.just("in.*.*"),
            "dest": st.sampled_from(["in.{{wildcard(2)}}.{{wildcard(1)}}", "in.$2.$1"]),
        }
    ),
    sources=st.lists(
        st.builds(lambda name, rest: {"name": name, **rest}, st.sampled_from(["S1", "S2", "S3"]), ORIGIN),
        max_size=3,
        unique_by=lambda source: source["name"],
    ),
)
UNKNOWN = sorted(
    {field.path[0] for field in STREAM.by_flag.values()} - {"subjects", "metadata", "mirror", "sources"}
)
"""Keys that a jsctl may not know. It has to know what it is asked to change itself."""

EXCLUDED: tuple[tuple[Json, tuple[str, ...]], ...] = (
    ({"allow_msg_counter": True}, ("allow_msg_schedules", "allow_msg_ttl", "subject_delete_marker_ttl")),
    ({"allow_msg_counter": True}, ("retention", "discard", "discard_new_per_subject")),
    ({"allow_msg_schedules": True}, ("discard", "discard_new_per_subject", "sources")),
    ({"retention": "workqueue"}, ("sources",)),
    ({"deny_purge": True}, ("allow_rollup_hdrs", "subject_delete_marker_ttl", "allow_msg_schedules")),
    ({"no_ack": True}, ("allow_atomic", "allow_batched", "allow_msg_ttl", "subject_delete_marker_ttl")),
    ({"no_ack": True}, ("allow_msg_schedules",)),
    ({"persist_mode": "async"}, ("storage", "allow_atomic")),
)
"""What the server refuses beside something else."""


@st.composite
def streams(draw: st.DrawFn) -> Json:
    """A configuration that the server takes."""
    config = draw(COMMON)
    if draw(st.integers(0, 3)) == 0:
        config.pop("first_seq", None)
        own = {"mirror": {"name": "ORIGIN", **draw(ORIGIN)}, **draw(maybe(mirror_direct=st.booleans()))}
    else:
        tokens = draw(st.lists(TOKEN, min_size=1, max_size=3, unique=True))
        own = draw(OWN) | {"subjects": [f"in.{token}.*" for token in tokens]}
    config |= own | {"name": "R"}
    for there, others in EXCLUDED:
        if there.items() <= config.items():
            config = {key: value for key, value in config.items() if key not in others}
    if config.get("sources"):
        config.pop("first_seq", None)
    if config.get("discard_new_per_subject"):
        config |= {"discard": "new", "max_msgs_per_subject": 5}
    return config


def holds(live: Any, wanted: Any) -> bool:
    """Whether every value that was asked for is there; what the server adds is its own."""
    if isinstance(wanted, dict):
        return isinstance(live, dict) and all(
            holds(live.get(key), value)
            for key, value in wanted.items()
            if value not in ({}, False, 0, []) and (key, value) != ("persist_mode", "default")
        )
    if isinstance(wanted, list) and isinstance(live, list):
        return len(live) == len(wanted) and all(any(holds(one, each) for one in live) for each in wanted)
    return bool(live == wanted)


def normal(config: Json) -> Json:
    """Without what the server owns, and in an order of its own."""
    result = STREAM.without_server_keys(config)
    result["sources"] = sorted(result.get("sources") or [], key=lambda one: json.dumps(one, sort_keys=True))
    return {key: value for key, value in result.items() if value not in (None, [], {}, "", False, 0)}


@pytest.fixture
def round_trip(cli: Cli, tmp_path: Path) -> "RoundTrip":
    return RoundTrip(cli, tmp_path)


class RoundTrip:
    """One account that each example cleans up after itself."""

    def __init__(self, cli: Cli, folder: Path) -> None:
        self.cli = cli
        self.folder = folder

    def file(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.write_text(content)
        return path

    def live(self, name: str = "R") -> Json:
        return dict(self.cli(f"stream info {name} --json", status=0).json["config"])

    def remove(self, name: str = "R") -> None:
        self.cli(f"stream rm {name} --force", status=0)


@pytest.mark.long
def test_every_key_is_drawn() -> None:
    seen: set[tuple[str, ...]] = set()

    def look(value: Any, path: tuple[str, ...]) -> None:
        for key, inner in value.items() if isinstance(value, dict) else ():
            seen.add((*path, key))
            for one in inner if isinstance(inner, list) else [inner]:
                look(one, (*path, key))

    @given(config=streams())
    @settings(max_examples=800, deadline=None, phases=[Phase.generate], derandomize=True, database=None)
    def draw(config: Json) -> None:
        look(config, ())

    draw()
    sources = STREAM.kinds["sources"]
    assert isinstance(sources, ListOf) and isinstance(sources.item, Object)
    origins = {(top, key) for top in ("mirror", "sources") for key in sources.item.kinds}
    assert {field.path for field in STREAM.by_flag.values()} | origins <= seen


@pytest.mark.slow
@example(
    config={
        "name": "R",
        "subjects": ["r.>"],
        "allow_rollup_hdrs": False,
        "subject_delete_marker_ttl": SECOND,
    },
    unknown={"subject_delete_marker_ttl"},
)
@example(
    config={
        **{"name": "R", "subjects": ["r.>"], "storage": "file", "retention": "limits"},
        **{"metadata": {"b´": "\x8b"}, "allow_batched": True, "persist_mode": "async"},
        "consumer_limits": {"inactive_threshold": SECOND, "max_ack_pending": 5},
    },
    unknown=set(),
)
@given(config=streams(), unknown=st.sets(st.sampled_from(UNKNOWN)))
@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each example costs 0.3 s: shrinking takes minutes
    report_multiple_bugs=False,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_configurations_come_back(round_trip: RoundTrip, config: Json, unknown: set[str]) -> None:
    with unaware(unknown):
        go_round(round_trip, config, unknown)


def go_round(round_trip: RoundTrip, config: Json, unknown: set[str]) -> None:
    cli = round_trip.cli
    newer = {key: value for key, value in config.items() if key in unknown}
    known = {key: value for key, value in config.items() if key not in unknown}
    wanted = round_trip.file("wanted.json", json.dumps({**known, "extra": newer}))
    cli(f"stream add --config {wanted}", status=0)
    try:
        live = round_trip.live()
        assert holds(live, config)
        document = round_trip.file("info.json", cli("stream info R --json", status=0).out)

        # edit with what is there changes nothing, whichever document says it
        for given_file in (wanted, document):
            edited = cli(f"stream edit R --config {given_file} --force", status=0)
            assert edited.out == "No difference in configuration\n", edited
        assert "No difference" in cli(f"stream edit R --config {document} --replace --force", status=0).out

        # one key changes, the others stay
        cli("stream edit R --metadata one=more --force", status=0)
        more = {**live, "metadata": {**live.get("metadata", {}), "one": "more"}}
        assert normal(round_trip.live()) == normal(more)

        # declared: what was exported is as it is, made anew it is the same
        before = normal(round_trip.live())
        text = cli("export config", status=0).out
        (declared,) = yaml.safe_load(text)["streams"]
        assert not unknown & declared.keys() and unknown & before.keys() <= declared.get("extra", {}).keys()
        for form in (text, cli("export config --json", status=0).out):
            exported = round_trip.file("exported.yaml", form)
            assert "Nothing to change: 1 stream is" in cli(f"diff -f {exported}", status=0).out
            assert "Nothing to change: 1 stream is" in cli(f"apply -f {exported}", status=0).out
        round_trip.remove()
        cli(f"apply -f {exported}", status=0)
        assert normal(round_trip.live()) == before
        assert cli("export config", status=0).out == text

        # a backup of the account brings it back as it was, over another configuration too
        whole = round_trip.folder / f"account-{next(_numbers)}"
        cli(f"backup account {whole}", status=0)
        round_trip.remove()
        cli(f"backup restore account {whole}", status=0)
        assert normal(round_trip.live()) == before
        cli("stream edit R --metadata one=less --description other --force", status=0)
        cli(f"backup restore account {whole} --update-streams", status=0)
        assert normal(round_trip.live()) == before

        # so does a backup of the stream
        backup = round_trip.folder / f"backup-{next(_numbers)}"
        cli(f"backup stream R {backup}", status=0)
        round_trip.remove()
        cli(f"backup restore stream {backup}", status=0)
        assert normal(round_trip.live()) == before

        # a copy differs in its name and subjects
        if "subject_transform" not in config:  # it would have to fit the other subjects
            other = "" if "mirror" in config else "--subjects other.>"
            cli(f"stream copy R COPY {other}", status=0)
            own = {"name", "subjects"}
            copied = {key: value for key, value in normal(round_trip.live("COPY")).items() if key not in own}
            assert copied == {key: value for key, value in before.items() if key not in own}
    finally:
        for name in cli("stream ls --all --json", status=0).json:
            round_trip.remove(name)
