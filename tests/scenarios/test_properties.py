"""Random valid stream configurations come back as they went: through files, copies, declared streams and
backups of a real server."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jsctl.jetstream import config as configs
from jsctl.units import DAY, SECOND
from tests.support.run import Cli

Json = dict[str, Any]

_numbers = itertools.count()
TEXT = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=12)
KEY = TEXT.filter(lambda key: not key.startswith("_nats."))
TOKEN = st.text(alphabet="abcXYZ019_-$", min_size=1, max_size=5)
LIMIT = st.one_of(st.just(-1), st.integers(1, 1 << 40))
SPAN = st.integers(2 * 120 * SECOND, 400 * DAY)


def maybe(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Each key or not."""
    return st.fixed_dictionaries({}, optional=values)


COMMON = maybe(
    description=TEXT,
    max_msgs=LIMIT,
    max_bytes=st.one_of(st.just(-1), st.integers(1, 1 << 24)),  # the server sets it aside
    max_msgs_per_subject=LIMIT,
    max_consumers=LIMIT,
    max_msg_size=st.one_of(st.just(-1), st.integers(1, 1 << 30)),
    max_age=st.one_of(st.just(0), SPAN),
    compression=st.sampled_from(["none", "s2"]),
    discard=st.sampled_from(["old", "new"]),
    metadata=st.dictionaries(KEY, TEXT, max_size=4),
    storage=st.sampled_from(["file", "memory"]),
    allow_direct=st.booleans(),
    consumer_limits=maybe(inactive_threshold=SPAN, max_ack_pending=st.integers(1, 10_000)),
    first_seq=st.integers(1, 1 << 40),
)
OWN = maybe(
    retention=st.sampled_from(["limits", "interest", "workqueue"]),
    no_ack=st.booleans(),
    deny_delete=st.booleans(),
    deny_purge=st.booleans(),
    allow_rollup_hdrs=st.booleans(),
    allow_msg_ttl=st.booleans(),
    allow_atomic=st.booleans(),
    duplicate_window=st.integers(100_000_000, 120 * SECOND),
    republish=st.fixed_dictionaries({"src": st.just(">"), "dest": st.just("again.>")}),
    subject_transform=st.fixed_dictionaries(
        {
            "src": st.just("in.*.*"),
            "dest": st.sampled_from(["in.{{wildcard(2)}}.{{wildcard(1)}}", "in.$2.$1"]),
        }
    ),
    sources=st.lists(
        st.fixed_dictionaries(
            {"name": st.sampled_from(["S1", "S2", "S3"])},
            optional={
                "external": st.just({"api": "$JS.elsewhere.API"}),
                "opt_start_seq": st.integers(1, 1 << 40),
                "filter_subject": TOKEN.map(lambda token: f"from.{token}.>"),
            },
        ),
        max_size=3,
        unique_by=lambda source: source["name"],
    ),
)


@st.composite
def streams(draw: st.DrawFn) -> Json:
    """A configuration that the server takes."""
    config = draw(COMMON)
    if draw(st.integers(0, 3)) == 0:
        config.pop("first_seq", None)
        return {**config, "name": "R", "mirror": {"name": "ORIGIN", "filter_subject": f"a.{draw(TOKEN)}"}}
    tokens = draw(st.lists(TOKEN, min_size=1, max_size=3, unique=True))
    config |= draw(OWN) | {"name": "R", "subjects": [f"in.{token}.*" for token in tokens]}
    if config.get("retention") == "workqueue":
        config.pop("sources", None)
    if config.get("sources"):
        config.pop("first_seq", None)
    if config.get("deny_purge"):
        config.pop("allow_rollup_hdrs", None)  # they exclude each other
    if config.get("no_ack"):
        config.pop("allow_atomic", None)
    return config


def normal(config: Json) -> Json:
    """Without what the server owns, and in an order of its own."""
    made = configs.without_reserved(config)
    made["sources"] = sorted(made.get("sources") or [], key=lambda one: json.dumps(one, sort_keys=True))
    return {key: value for key, value in made.items() if value not in (None, [], {}, "", False, 0)}


def holds(live: Json, wanted: Json) -> bool:
    """Whether every value that was asked for is there; what the server adds is its own."""
    if isinstance(wanted, dict):
        return isinstance(live, dict) and all(
            holds(live.get(key), value) for key, value in wanted.items() if value not in ({}, False, 0, [])
        )
    if isinstance(wanted, list) and isinstance(live, list):
        return len(live) == len(wanted) and all(any(holds(one, each) for one in live) for each in wanted)
    return bool(live == wanted)


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


@given(config=streams())
@settings(
    max_examples=20,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each example costs 0.3 s: shrinking takes minutes
    report_multiple_bugs=False,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_configurations_come_back(round_trip: RoundTrip, config: Json) -> None:
    cli = round_trip.cli
    wanted = round_trip.file("wanted.json", json.dumps(config))
    cli(f"stream add --config {wanted}", status=0)
    try:
        live = round_trip.live()
        assert holds(live, config)
        document = round_trip.file("info.json", cli("stream info R --json", status=0).out)

        # edit with what is there changes nothing, whichever document says it
        for given_file in (wanted, document):
            edited = cli(f"stream edit R --config {given_file} --force", status=0).out
            assert edited == "No difference in configuration\n", edited
        assert "No difference" in cli(f"stream edit R --config {document} --replace --force", status=0).out

        # one key changes, the others stay
        cli("stream edit R --metadata one=more --force", status=0)
        more = {**live, "metadata": {**live.get("metadata", {}), "one": "more"}}
        assert normal(round_trip.live()) == normal(more)

        # declared: what was exported is as it is, made anew it is the same
        before = normal(round_trip.live())
        text = cli("export config", status=0).out
        for form in (text, cli("export config --json", status=0).out):
            exported = round_trip.file("exported.yaml", form)
            assert "Nothing to change: 1 stream is" in cli(f"diff -f {exported}", status=0).out
            assert "Nothing to change: 1 stream is" in cli(f"apply -f {exported}", status=0).out
        round_trip.remove()
        cli(f"apply -f {exported}", status=0)
        assert normal(round_trip.live()) == before
        assert cli("export config", status=0).out == text

        # a backup brings it back as it was
        backup = round_trip.folder / f"backup-{next(_numbers)}"
        cli(f"stream backup R {backup}", status=0)
        round_trip.remove()
        cli(f"stream restore {backup}", status=0)
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
