"""The parts of `report` that are fetched only where they are shown, such as buckets and connections."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.monitor.report.lines import PARTS
from jsctl.monitor.report.listings import LISTED, RECORDED_EVERY
from jsctl.monitor.report.recording import Recording, encode_round
from jsctl.schema.catalog import load_schema
from jsctl.schema.validator import validate
from jsctl.views.report.choice import SORTS
from jsctl.views.report.listings import list_columns, list_keys
from jsctl.views.shared.figures import find_grid_key
from tests.support import js
from tests.support.emulator import Watched
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.services import start
from tests.support.tables import read_table
from tests.support.waiting import wait_for

CONFIG = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts {
  A { jetstream: enabled, users: [{user: acc, password: acc}] }
  SYS { users: [{user: sys, password: sys}] }
}
system_account: SYS
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "server", CONFIG, name="one").start()
    yield server
    server.stop()


@pytest.fixture
def contexts(offline_cli: Cli, server: RealServer) -> Cli:
    """Contexts app, with something of everything, and sys."""
    offline_cli(f"context add app --server {server.url_for('acc')} --select", status=0)
    offline_cli(f"context add sys --server {server.url_for('sys')}", status=0)
    offline_cli("kv add CONFIG --description settings", status=0)
    offline_cli("kv put CONFIG a b", status=0)
    offline_cli("object add FILES", status=0)
    js.stream(server.url_for("acc"), "JOBS", "jobs.>", allow_msg_schedules=True)
    offline_cli("schedule add JOBS jobs.plan '{}' --every 5m --dest jobs.run", status=0)
    return offline_cli


def _read_rows(cli: Cli, part: str) -> list[dict[str, str]]:
    return read_table(cli(f"report --part {part}", status=0).out.partition("Report\n")[2])


@pytest.mark.slow
def test_each_part_once(contexts: Cli) -> None:
    [bucket] = _read_rows(contexts, "buckets")
    assert (bucket["Bucket"], bucket["Description"], bucket["Values"]) == ("CONFIG", "settings", "1")
    [row] = _read_rows(contexts, "objects")
    assert row["Bucket"] == "FILES"
    [row] = _read_rows(contexts, "schedules --stream 'J*'")
    assert (row["Stream"], row["Subject"], row["Schedule"]) == ("JOBS", "jobs.plan", "@every 300s")
    assert "there are no schedules" in contexts("report --part schedules --stream K", status=0).out
    assert "No rows to show" in contexts("report --part buckets --filter nothing", status=0).out
    assert "there are no services" in contexts("report --part services", status=0).out
    denied = contexts("report --part connections", status=0).out
    assert "not checked: only a login of the system account sees connections" in denied
    rows = _read_rows(contexts, "connections --context sys")
    assert "SYS" in {row["Account"] for row in rows}
    line = contexts("report --part buckets --columns bucket,values --as csv", status=0).out
    assert line.split() == ["bucket,values", "CONFIG,1"]
    both = contexts("report --part 7 --context app --context sys --as csv", status=0)
    assert both.out.splitlines()[1].startswith("app,,CONFIG,settings,")
    contexts("report --part buckets --replay x", status=64)


@pytest.mark.slow
def test_the_json_of_each_part(contexts: Cli, server: RealServer) -> None:
    schema = load_schema("io.jsctl.v1.report")
    serving = start(contexts, "serve", "demo")
    try:
        wait_for(lambda: contexts("service list --json", status=0).json, "the service")
        for part in LISTED:
            context = "sys" if part == "connections" else "app"
            document = contexts(f"report --part {part} --json --context {context}", status=0).json
            assert not validate(document, schema), part
            [report] = document["reports"]
            assert report[part] and all(list(row) == list_keys(part) for row in report[part]), part
            assert report["streams"] == [], "only what was chosen"
    finally:
        serving.terminate()
        serving.wait()
    document = contexts("report --part connections --json", status=0).json
    assert not validate(document, schema)
    [report] = document["reports"]
    assert report["connections"] is None
    assert report["not_checked"] == [
        {"part": "connections", "why": "only a login of the system account sees connections"}
    ]
    assert "buckets" not in report
    lines = contexts("report --part buckets --watch 200ms --count 2 --json", status=0).out.splitlines()
    assert [len(json.loads(line)["reports"][0]["buckets"]) for line in lines] == [1, 1]


@pytest.mark.slow
def test_on_the_screen(contexts: Cli) -> None:
    """Keys and tab lead to them; pages, `y` and what a login may not see are as of other parts."""
    watched = Watched(contexts.terminal("report --watch 200ms --context app --context sys"))
    watched.until("11…")
    watched.press("7")
    watched.until(lambda text: "7 Buckets 1" in text and "CONFIG" in text and "settings" in text)
    watched.until("no buckets of sys: JetStream not enabled for account")
    watched.press("y")
    watched.until("jsctl kv info CONFIG --context app")
    watched.press("\r")
    watched.until("Information for Stream KV_CONFIG")
    watched.press("\x1b")
    watched.until("7 Buckets 1")
    watched.press("8")
    watched.until(lambda text: "8 Object Buckets 1" in text and "FILES" in text)
    watched.press("0")
    watched.until(lambda text: "10 Connections " in text and "SYS" in text)
    watched.until("no connections of app: only a login of the system account sees")
    watched.press("\t")
    watched.until(lambda text: "11 Schedules 1" in text and "@every 300s" in text)
    watched.press("1")
    watched.until(lambda text: "1 Streams 3" in text and "no connections" not in text)
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
def test_a_recording_has_them(contexts: Cli, tmp_path: Path) -> None:
    """In every eighth round, and a replay has them from the last one, also where it begins in between."""
    places, rec = ["--context", "app", "--context", "sys"], tmp_path / "rec"
    serving = start(contexts, "serve", "demo")
    try:
        wait_for(lambda: contexts("service list --json", status=0).json, "the service")
        contexts(
            ["report", "--record", str(rec), "--count", str(RECORDED_EVERY + 1), "--watch", "1s", *places]
        )
        live = {part: contexts(["report", "--part", part, "--json", *places]).json for part in LISTED}
    finally:
        serving.terminate()
        serving.wait()
    recording = Recording(rec)
    rounds = [recording.load(number) for number in range(len(recording.times))]
    assert [{"lists" in place for place in one["places"]} for one in rounds] == [
        {number % RECORDED_EVERY == 0} for number in range(RECORDED_EVERY + 1)
    ]
    for part, document in live.items():
        lines = contexts(f"report --replay {rec} --part {part} --json", status=0).out.splitlines()
        assert len(lines) == len(rounds)
        for number in (0, -2, -1):
            reports = zip(json.loads(lines[number])["reports"], document["reports"], strict=True)
            for own, expected in reports:
                if part == "connections":  # of which each command has its own
                    assert bool(own[part]) == (own["context"] == "sys")
                else:
                    assert _drop_varying(own[part]) == _drop_varying(expected[part]), part
                assert own["not_checked"] == expected["not_checked"], part
        assert not validate(json.loads(lines[0]), load_schema("io.jsctl.v1.report"))
    assert "CONFIG" in contexts(f"report --replay {rec} --part buckets", status=0).out
    watched = Watched(contexts.terminal(f"report --replay {rec}"))
    watched.until("11…")
    watched.press("[7")
    watched.until(lambda text: "7 Buckets 1" in text and "settings" in text)
    watched.press("q")
    assert watched.end() == 0
    older = tmp_path / "older"
    for place in rounds[0]["places"]:
        del place["lists"]
    older.write_bytes(encode_round(rounds[0], recording.times[0]))
    assert "it is not in the recording" in contexts(f"report --replay {older} --part buckets", status=0).out


def _drop_varying(rows: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    keys = ("last_update_ns", "rate", "error_rate", "requests", "average_ns", "skew", "next")
    return rows and [{key: value for key, value in row.items() if key not in keys} for row in rows]


@pytest.mark.slow
def test_chosen_columns_are_kept(contexts: Cli) -> None:
    """For each part and screen, also for the next run; where they cannot be, the screen says so."""
    watched = Watched(contexts.terminal("report --watch 200ms --part buckets --context app"))
    watched.until("settings")
    watched.press("C")
    watched.until("> [x] Bucket")
    watched.press(" \x1b[B ")  # without Bucket and Created
    watched.press("\x1b")
    watched.until(lambda text: "Description" in text and "Values" in text and "CONFIG" not in text)
    watched.press("q")
    assert watched.end() == 0
    [file] = Path(contexts.environ["HOME"]).glob(".local/state/jsctl/columns.json")
    assert json.loads(file.read_text()) == {
        "jsctl report": {"buckets": ["description", "bytes", "values", "last_update"]}
    }
    watched = Watched(contexts.terminal("report --watch 200ms --part buckets --context app"))
    watched.until(lambda text: "Values" in text and "Bucket  " not in text)
    file.unlink()
    file.mkdir()
    watched.press("C\x7f")
    watched.until("cannot write ")
    watched.press("\x1b")
    watched.until("CONFIG")
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
def test_a_context_that_does_not_answer(contexts: Cli, server: RealServer) -> None:
    contexts("context add gone --server nats://127.0.0.1:1", status=0)
    state = Path(contexts.environ["HOME"]) / ".local/state/jsctl"
    state.mkdir(parents=True)
    (state / "columns.json").write_text('{"jsctl report": {"buckets": ["values", "bucket"]}}')
    watched = Watched(contexts.terminal("report --watch 200ms --part buckets --context gone --context app"))
    watched.until(lambda text: re.search(r"Where +Values +Bucket\n +app +1 +CONFIG", text))
    watched.press("q")
    assert watched.end() == 0
    watched = Watched(contexts.terminal("report --watch 200ms --part buckets --context gone", columns=160))
    watched.until("\n  cannot connect to nats://127.0.0.1:1")
    watched.press("6\r")
    watched.until("jsctl doctor --context gone")
    watched.press("q")
    assert watched.end() == 0


@pytest.mark.slow
def test_rows_are_sorted_by_any_number(contexts: Cli) -> None:
    for part in LISTED:
        for column in list_columns(part, 0):
            assert column.data_key in SORTS or column.kind in ("text", "prose", "time"), column.key
    contexts("kv add LARGE", status=0)
    contexts(["kv", "put", "LARGE", "a", "b" * 1000], status=0)
    for sort, first in (("name", "CONFIG"), ("bytes", "LARGE"), ("last_update_ns", "CONFIG")):
        rows = contexts(f"report --part buckets --json --sort {sort}", status=0).json["reports"][0]["buckets"]
        assert rows[0]["bucket"] == first, sort
    line = "report --watch 200ms --part buckets --context app --sort"
    for sort, first in (("bytes", "LARGE"), ("last_update_ns", "CONFIG")):
        watched = Watched(contexts.terminal(f"{line} {sort}"))
        wait = re.compile(rf"Update.*\n +{first} ")
        watched.until(wait.search)
        watched.press("q")
        assert watched.end() == 0


def test_a_part_begins_with_what_is_wrong() -> None:
    assert [find_grid_key(part, "") for part in PARTS] == [""] * len(PARTS)


@pytest.mark.slow
def test_none_where_one_context_has_no_jetstream(contexts: Cli) -> None:
    line = "report --watch 200ms --part objects --stream NONE --context app --context sys"
    watched = Watched(contexts.terminal(line))
    watched.until(lambda text: "no object buckets of sys" in text and "there are no object buckets" in text)
    watched.press("q")
    assert watched.end() == 0


def test_it_begins_with_a_part(contexts: Cli) -> None:
    watched = Watched(contexts.terminal("report --watch 200ms --part connections --context app"))
    watched.until("only a login of the system account sees connections")
    watched.press("q")
    assert watched.end() == 0
