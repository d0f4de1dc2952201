"""A TTL that a stream raises to that of its markers is said, wherever it is given."""

import pytest

from jsctl.base.units import SECOND
from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for


def add_stream(url: str, markers: int, per_subject: int) -> None:
    """Create a stream S. markers: the TTL of its markers in seconds."""
    js.stream(
        url,
        "S",
        "s.>",
        allow_msg_ttl=True,
        allow_msg_schedules=True,
        allow_atomic=True,
        max_msgs_per_subject=per_subject,
        subject_delete_marker_ttl=markers * SECOND,
    )


@pytest.mark.parametrize("markers, per_subject", [(60, -1), (60, 1), (5, -1), (0, -1)])
@pytest.mark.parametrize(
    "line, subject",
    [
        ("pub s.a x --ttl 5s", "s.a"),
        ("pub s.a x -H 'Nats-TTL: 5s' -J", "s.a"),
        ("pub s.a x -H Nats-TTL:5 --atomic", "s.a"),
        ("pub s.p x --schedule-after 1s --schedule-ttl 5s --schedule-dest s.a", "s.a"),
        ("pub s.p x --schedule-after 1s --schedule-dest s.a -H Nats-Schedule-TTL:5s", "s.a"),
        ("schedule add S s.p x --after 1s --ttl 5s --dest s.a", "s.a"),
    ],
)
def test_what_is_said_of_a_ttl(
    cli: Cli, url: str, line: str, subject: str, markers: int, per_subject: int
) -> None:
    add_stream(url, markers, per_subject)
    said = cli(line, status=0).err
    wait_for(lambda: subject in cli("stream subjects S --json", status=0).json, "a message")
    shown = cli(f"stream get S --last-for {subject}", status=0).out
    is_raised = "Nats-TTL: 60" in shown
    assert is_raised == (markers == 60 and per_subject != 1)
    assert ("for 1m0s: it raises TTLs below that of its markers" in said) == is_raised


def test_a_ttl_of_never_is_no_ttl(cli: Cli, url: str) -> None:
    add_stream(url, 60, -1)
    assert "warning" not in cli("pub s.a x -J -H Nats-TTL:never", status=0).err


@pytest.mark.parametrize(
    "name, hint", [("S", "stream edit S --allow-msg-ttl"), ("KV_B", "kv edit B --marker-ttl 1m")]
)
def test_a_stream_without_ttls_says_how_it_gets_them(cli: Cli, url: str, name: str, hint: str) -> None:
    js.stream(
        url, name, "$KV.B.>" if name == "KV_B" else "s.>", max_msgs_per_subject=1, allow_rollup_hdrs=True
    )
    line = "kv put B a x --ttl 5s" if name == "KV_B" else "pub s.a x --ttl 5s -J"
    assert f"; jsctl {hint} allows it\n" in cli(line, status=1).err
    cli(f"{hint} --force", status=0)
    cli(line, status=0)
