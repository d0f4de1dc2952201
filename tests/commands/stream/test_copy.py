import json
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def orders(cli: Cli) -> Cli:
    """With a stream ORDERS on ORDERS.* that has settings of many kinds."""
    cli(
        "stream add ORDERS --subjects 'ORDERS.*' --max-age 1y --max-msgs 500 --metadata a=b --metadata c=d "
        "--allow-rollup --republish-source 'ORDERS.*' --republish-destination 'told.{{wildcard(1)}}'",
        status=0,
    )
    return cli


def config(cli: Cli, stream: str) -> dict[str, Any]:
    config: dict[str, Any] = cli(f"stream info {stream} --json", status=0).json["config"]
    return config


def test_a_copy_has_everything_but_what_flags_say(orders: Cli) -> None:
    outcome = orders("stream copy ORDERS COPY --subjects copy --max-age 2h --metadata c=e", status=0)
    assert outcome.out.startswith("Stream COPY was created\n\nInformation for Stream COPY created ")
    wanted = {**config(orders, "ORDERS"), "name": "COPY", "subjects": ["copy"], "max_age": 7_200_000_000_000}
    wanted["metadata"] = {**wanted["metadata"], "c": "e"}
    assert config(orders, "COPY") == wanted


def test_sources_travel_along(orders: Cli, url: str) -> None:
    source = {"name": "ORDERS", "filter_subject": "ORDERS.*", "opt_start_seq": 7}
    js.ask(url, "STREAM.CREATE.S", {"name": "S", "sources": [source], "storage": "memory"})
    orders("stream cp S T", status=0)
    assert config(orders, "T")["sources"] == [source]


def test_an_existing_copy_is_not_created(orders: Cli) -> None:
    orders("stream copy ORDERS COPY --subjects copy", status=0)
    again = orders("stream copy ORDERS COPY --subjects copy", status=0)
    assert again.out.startswith("Stream COPY already exists, nothing was changed\n")
    other = orders("stream copy ORDERS COPY --subjects other", status=1)
    assert "10058" in other.err
    assert config(orders, "COPY")["subjects"] == ["copy"]


@pytest.mark.parametrize("kind", ["", "--allow-counter", "--allow-schedules"])
@pytest.mark.parametrize("data", ["", "--data"])
def test_subjects_that_overlap(cli: Cli, kind: str, data: str) -> None:
    cli(f"stream add S --subjects 's.>' {kind} --defaults", status=0)
    refused = cli(f"stream copy S COPY {data}", status=1)
    assert "s.> overlaps with stream S, which stores s.> (10065)" in refused.err


def test_json_is_what_the_server_said(orders: Cli) -> None:
    document = json.loads(orders("stream copy ORDERS COPY --subjects copy -j", status=0).out)
    assert document["config"]["name"] == "COPY"
    assert document["state"]["messages"] == 0


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("stream copy ORDERS ORDERS", 64, "the name of its source"),
        ("stream copy NOPE COPY", 3, "stream NOPE not found"),
        ("stream copy ORDERS a.b", 64, "not a valid stream name"),
        ("stream copy ORDERS COPY --consumers", 64, "--data"),
        ("stream copy ORDERS COPY --mirror X", 64, "a mirror cannot have --subjects"),
    ],
)
def test_refused_with_one_line(orders: Cli, line: str, status: int, words: str) -> None:
    refused = orders(line, status=status)
    assert words in refused.err
    assert len(refused.err.splitlines()) == 1


def test_a_sealed_stream_makes_one_that_is_open(orders: Cli, url: str) -> None:
    orders("stream add OLD --subjects old --defaults", status=0)
    js.publish(url, "old")
    orders("stream seal OLD --force", status=0)
    outcome = orders("stream copy OLD NEW --subjects new", status=0)
    assert "is sealed" in outcome.err
    assert not any(config(orders, "NEW")[key] for key in ("sealed", "deny_delete", "deny_purge"))


def test_what_is_left_out_is_asked(orders: Cli) -> None:
    outcome = orders("stream copy --subjects copy", answers=["ORDERS", "COPY"], status=0)
    assert outcome.asked == ["Select a Stream", "Name of the copy"]
    assert outcome.out.startswith("Stream COPY was created\n")
    assert "DESTINATION" in orders("stream copy ORDERS", status=64).err
