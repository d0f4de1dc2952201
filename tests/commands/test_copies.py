"""How far copies are and what is wrong with them: told by their origins, and the same wherever it is said."""

import asyncio
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.message.progress import Copying, Progress, measure_progress
from jsctl.nats.connection import Connection
from jsctl.nats.subjects import matches
from tests.support import js
from tests.support.run import Cli
from tests.support.tables import read_table
from tests.support.waiting import wait_for


def links(cli: Cli) -> dict[str, dict[str, Any]]:
    (report,) = cli("report --json").json["reports"]
    return {row["stream"]: row for row in report["replication"]}


def finding(cli: Cli, code: str, stream: str) -> dict[str, Any]:
    """The finding of doctor about a stream; report, its conditions and the exporter have the same."""
    found = [one for one in cli("doctor --json").json["findings"] if one["about"] == f"stream {stream}"]
    [one] = [one for one in found if one["code"] == code]
    assert len(found) == 1, found
    assert links(cli)[stream]["codes"] == [code]
    exported = cli("exporter --textfile - --count 1", status=0).out
    assert f'code="{code}"' in exported
    return dict(one)


def last(url: str, stream: str) -> int:
    return int(js.info(url, stream)["state"]["last_seq"])


@pytest.mark.slow
def test_a_copy_that_is_ahead(cli: Cli, url: str) -> None:
    """The origin was removed and made again. Servers of 2.15 notice that of a source, not of a mirror."""
    js.stream(url, "O", "o.*")
    js.stream(url, "MIRROR", mirror={"name": "O"})
    js.stream(url, "PART", mirror={"name": "O", "filter_subject": "o.1"})
    for number in range(6):
        js.publish(url, f"o.{number % 2}")
    wait_for(lambda: (last(url, "MIRROR"), last(url, "PART")) == (6, 6), "they are not copied")
    js.ask(url, "STREAM.DELETE.O")
    js.stream(url, "O", "o.*")
    js.publish(url, "o.1", count=2)
    rows = links(cli)
    assert {name: (row["lag"], row["ahead"]) for name, row in rows.items()} == {
        "MIRROR": (0, 4),
        "PART": (0, 4),
    }
    table = read_table(cli("stream report", status=0).out, "Replication")
    assert {row["Stream"]: row["Error"] for row in table} == {"MIRROR": "4 ahead", "PART": "4 ahead"}
    page = cli("stream info MIRROR", status=0).out
    assert re.search(r"Lag: 0\n +Ahead: 4 sequences past its origin\n", page), page
    outcome = cli("server check stream --stream MIRROR", status=2).out
    assert "CRITICAL MIRROR Crit:it is 4 sequences past the last one of O" in outcome
    one = finding(cli, "LINK_AHEAD", "MIRROR")
    assert "4 sequences past the last one of O" in one["seen"]
    line = one["fix"].rpartition(": jsctl ")[2]
    assert line == "stream copy MIRROR MIRROR_NEW"
    cli(line, status=0)
    wait_for(lambda: last(url, "MIRROR_NEW") == 2, "the new one copies nothing")
    assert "stream MIRROR_NEW" not in [one["about"] for one in cli("doctor --json").json["findings"]]
    assert "jsctl_replication_ahead" in cli("exporter --textfile - --count 1", status=0).out
    # A purge of the origin is none: sequences go on.
    js.ask(url, "STREAM.PURGE.O")
    assert links(cli)["MIRROR_NEW"]["ahead"] == 0


@pytest.mark.slow
def test_the_last_messages_of_an_origin_are_deleted(cli: Cli, url: str) -> None:
    """The origin's last sequence stays as it is, and a mirror that begins later never comes there."""
    js.stream(url, "O", "o")
    js.publish(url, "o", count=6)
    for sequence in (2, 5, 6):
        js.ask(url, "STREAM.MSG.DELETE.O", {"seq": sequence})
    js.stream(url, "M", mirror={"name": "O"})
    wait_for(lambda: last(url, "M") == 4, "it is not copied")
    assert links(cli)["M"]["lag"] == 0
    assert re.search(r"Lag: 0\n", cli("stream info M", status=0).out)
    assert "stream M" not in [one["about"] for one in cli("doctor --json").json["findings"]]


@pytest.mark.slow
def test_a_mirror_that_is_full(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "O", "o")
    added = cli("stream add M --mirror O --discard new --max-msgs 3 --defaults", status=0)
    assert "incomplete once it is full" in added.err
    js.publish(url, "o", count=10)
    wait_for(lambda: last(url, "M") == 3, "it is not full")
    assert js.info(url, "M")["mirror"]["lag"] < 7, "what its server says"
    assert links(cli)["M"]["lag"] == 7
    assert cli("stream report --json", status=0).json["replication"][0]["lag"] == 7
    assert re.search(r"Lag: 7\n", cli("stream info M", status=0).out)
    assert cli("stream info M --json", status=0).json["mirror"]["lag"] < 7, "JSON is the server's"
    assert cli("server check stream --stream M --lag-critical 5").status == 2
    one = finding(cli, "MIRROR_FULL", "M")
    assert "7 messages behind O" in one["seen"] and "do not lift the limit" in one["fix"]
    line = one["fix"].rpartition(": jsctl ")[2]
    cli(line, status=0)
    wait_for(lambda: last(url, "M_NEW") == 10, "the new one is not complete")
    assert js.info(url, "M_NEW")["config"]["discard"] == "old"
    file = tmp_path / "lifted.json"
    file.write_text(json.dumps({"streams": [{"name": "M", "max_msgs": 20}]}))
    for line in (f"diff -f {file}", "stream edit M --max-msgs 20 --force"):
        said = cli(line).err
        assert (
            "stores later ones under wrong sequences; make the copy anew: jsctl stream copy M M_NEW" in said
        )


@pytest.mark.slow
def test_a_stream_with_sources_that_is_full(cli: Cli, url: str) -> None:
    """It goes on once its limit is raised: the limit is all that is wrong."""
    js.stream(url, "O", "o")
    js.stream(url, "S", sources=[{"name": "O"}], discard="new", max_msgs=3)
    js.publish(url, "o", count=10)
    wait_for(lambda: last(url, "S") == 3, "it is not full")
    assert [one["code"] for one in cli("doctor --json").json["findings"]] == ["LIMIT_NEAR"]
    rounds = cli("report --watch 100ms --count 4 --json", status=0).out.splitlines()
    codes = [row["codes"] for each in rounds for row in json.loads(each)["reports"][0]["replication"]]
    assert codes == [[]] * 4
    cli("stream edit S --max-msgs -1 --force", status=0)
    wait_for(lambda: last(url, "S") == 10, "it does not go on", 60)


def test_limits_that_stop_a_mirror_are_warned_of(cli: Cli, url: str) -> None:
    js.stream(url, "O", "o")
    assert (
        "stops at the first message"
        in cli("stream add M --mirror O --max-msg-size 9 --defaults", status=0).err
    )
    assert "warning" not in cli("stream add N --mirror O --max-msgs 9 --defaults", status=0).err
    cli("kv add B", status=0)
    assert "incomplete once it is full" in cli("kv add C --mirror B --max-bucket-size 1MB", status=0).err


NUMBERS = itertools.count()
SUBJECTS = ("a", "b.x", "b.y")
FILTERS: list[dict[str, Any]] = [
    {},
    {"filter_subject": "b.*"},
    {"subject_transforms": [{"src": "a", "dest": "c"}, {"src": "b.y", "dest": ""}]},
]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    published=st.lists(st.sampled_from(SUBJECTS), max_size=12),
    deleted=st.sets(st.integers(1, 12), max_size=6),
    reached=st.integers(0, 14),
    more=st.sampled_from(FILTERS),
    start=st.sampled_from([0, 3, 9]),
    direct=st.booleans(),
    is_same=st.booleans(),
)
def test_a_lag_is_what_is_missing(
    url: str,
    published: list[str],
    deleted: set[int],
    reached: int,
    more: dict[str, Any],
    start: int,
    direct: bool,
    is_same: bool,
) -> None:
    """Whatever the origin holds, and however far the copy is: without a filter never less than what is
    missing, and nothing if nothing is. A mirror whose last message has another time than that of its origin
    holds another message; that is seen where something is missing.

    Mirrors get such messages once they have refused some, but not each time.
    """
    name = f"O{next(NUMBERS)}"  # direct gets may still be answered by a stream that was removed just now
    js.stream(url, name, *SUBJECTS, allow_direct=direct)
    js.publish_all(url, [(subject, b"x") for subject in published])
    stored = dict(enumerate(published, 1))
    for sequence in deleted & stored.keys():
        js.ask(url, f"STREAM.MSG.DELETE.{name}", {"seq": sequence})
        del stored[sequence]
    config = {"name": name, **more, **({"opt_start_seq": start} if start else {})}
    wanted = [str(more["filter_subject"])] if "filter_subject" in more else []
    wanted += [each["src"] for each in more.get("subject_transforms", ())]
    first = max(reached + 1, start)
    missing = [
        sequence
        for sequence, subject in stored.items()
        if sequence >= first and any(matches(each, subject) for each in wanted or [">"])
    ]

    state = js.info(url, name)["state"]
    time = "2020-01-01T00:00:00Z"
    if reached in stored and is_same:
        time = js.ask(url, f"STREAM.MSG.GET.{name}", {"seq": reached})["message"]["time"]

    async def measure() -> Progress:
        connection = await Connection.open(Settings(url=url, timeout=5 * SECOND))
        try:
            api = Api(connection)
            return await measure_progress(Copying(config, 0, reached, time), state, api)
        finally:
            await connection.close()

    progress = asyncio.run(measure())
    js.ask(url, f"STREAM.DELETE.{name}")
    assert progress.ahead == max(0, reached - state["last_seq"])
    assert progress.differs == (bool(progress.lag) and reached in stored and not is_same)
    if progress.ahead:
        assert progress.lag == 0
    elif wanted and direct:
        assert progress.lag == len(missing)
    else:
        assert bool(progress.lag) >= bool(missing) and progress.lag >= min(len(missing), 1)
        assert progress.lag <= state["messages"]
