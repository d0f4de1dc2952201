"""What `export config` writes of any server applies to an empty one, and is equal to it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for

Step = tuple[str, dict[str, Any]]
"""A request with its body."""


def stream(name: str, **config: Any) -> Step:
    return f"STREAM.CREATE.{name}", {"name": name, "storage": "memory", "retention": "limits", **config}


def consumer(name: str, of: str, **config: Any) -> Step:
    body = {"name": name, "durable_name": name, "ack_policy": "explicit", **config}
    return f"CONSUMER.CREATE.{of}.{name}", {"stream_name": of, "config": body}


KINDS: dict[str, list[Step]] = {
    "plain": [stream("PLAIN", subjects=["plain.a,b", "plain.>c"]), consumer("C", "PLAIN")],
    "zz is the origin of aa": [
        stream("ZZ", subjects=["zz.>"]),
        stream("AA", mirror={"name": "ZZ"}, mirror_direct=True),
        stream("BB", sources=[{"name": "AA"}, {"name": "ZZ", "filter_subject": "zz.1"}]),
    ],
    "promoted": [
        stream("ORIGIN", subjects=["origin"]),
        stream("PROMOTED", mirror={"name": "ORIGIN"}, mirror_direct=True),
        ("STREAM.UPDATE.PROMOTED", {"name": "PROMOTED", "subjects": ["promoted"], "mirror_direct": True}),
    ],
    "sealed": [stream("SEALED", subjects=["sealed"]), ("STREAM.UPDATE.SEALED", {"sealed": True})],
    "denied": [stream("DENIED", subjects=["denied"], deny_delete=True, deny_purge=True)],
    "interest": [
        stream("INTEREST", subjects=["interest.>"], retention="interest"),
        consumer("PUSH", "INTEREST", deliver_subject="out", deliver_group="g", filter_subject="interest.a,b"),
        consumer("TRIES", "INTEREST", backoff=[1_000_000_000, 2_000_000_000], max_deliver=3),
    ],
    "bucket": [
        stream("KV_B", subjects=["$KV.B.>"], max_msgs_per_subject=3, allow_rollup_hdrs=True, discard="new"),
        stream("KV_COPY", mirror={"name": "KV_B"}, mirror_direct=True, max_msgs_per_subject=3),
    ],
    "changed by the server": [
        stream("TTL", subjects=["ttl"], allow_msg_ttl=True, subject_delete_marker_ttl=60_000_000_000),
        stream("COUNT", subjects=["count"], allow_msg_counter=True, allow_direct=True),
        stream(
            "MOVED", subjects=["moved.*"], subject_transform={"src": "moved.*", "dest": "to.{{wildcard(1)}}"}
        ),
    ],
}


@pytest.fixture
def work(cli: Cli, url: str, tmp_path: Path) -> Iterator[tuple[Cli, str, Path]]:
    yield cli, url, tmp_path


@pytest.mark.slow
@given(kinds=st.sets(st.sampled_from(sorted(KINDS)), min_size=1))
@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_streams_come_back(work: tuple[Cli, str, Path], kinds: set[str]) -> None:
    cli, url, folder = work
    for subject, body in [step for kind in sorted(kinds) for step in KINDS[kind]]:
        if ".UPDATE." in subject:
            live = js.info(url, subject.rpartition(".")[2])["config"]
            js.ask(url, subject, {**{key: live[key] for key in live if key != "mirror"}, **body})
        else:
            js.ask(url, subject, body)
    written = cli("export config --all", status=0).out
    file = folder / "all.yaml"
    file.write_text(written)
    assert "Nothing to change" in cli(f"diff -f {file}", status=0).out
    for name in cli("stream ls --json -a", status=0).json:
        js.ask(url, f"STREAM.DELETE.{name}")
    cli(f"apply -f {file}", status=0)
    assert "Nothing to change" in cli(f"diff -f {file}", status=0).out
    for name in cli("stream ls --json -a", status=0).json:
        js.ask(url, f"STREAM.DELETE.{name}")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_comes_back(work: tuple[Cli, str, Path], kind: str) -> None:
    test_any_streams_come_back.hypothesis.inner_test(work, {kind})


@pytest.mark.parametrize("copying", [{"sources": [{"name": "WORK"}]}, {"mirror": {"name": "WORK"}}])
def test_consumers_that_servers_make_to_copy_are_left_out(
    work: tuple[Cli, str, Path], copying: dict[str, Any]
) -> None:
    """nats-server 2.15 reads a work queue for another stream through a durable consumer of its own."""
    cli, url, folder = work
    js.stream(url, "WORK", "work", retention="workqueue")
    js.stream(url, "COPY", **copying)
    wait_for(lambda: js.info(url, "WORK")["state"]["consumer_count"], "the consumer of the server")
    file = folder / "all.yaml"
    file.write_text(cli("export config", status=0).out)
    assert "  consumers:" not in file.read_text() and "JS_" not in file.read_text()
    for name in ("COPY", "WORK"):
        js.ask(url, f"STREAM.DELETE.{name}")
    cli(f"apply -f {file}", status=0)
    assert "Nothing to change" in cli(f"diff -f {file}", status=0).out
    js.publish(url, "work", count=3)
    js.wait_for_messages(url, "COPY", 3)
