import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli

FLAGS: dict[str, dict[str, Any]] = {
    "--subjects a,b --subjects c": {"subjects": ["a", "b", "c"]},
    "--description 'what for'": {"description": "what for"},
    "--storage memory": {"storage": "memory"},
    "--compression s2": {"compression": "s2"},
    "--no-ack": {"no_ack": True},
    "--retention work": {"retention": "workqueue"},
    "--discard new --max-msgs 5": {"discard": "new", "max_msgs": 5},
    "--discard-per-subject --max-msgs-per-subject 1": {
        "discard_new_per_subject": True,
        "discard": "new",
        "max_msgs_per_subject": 1,
    },
    "--first-sequence 10": {"first_seq": 10},
    "--max-age 1y": {"max_age": 31_536_000_000_000_000},
    "--max-age 30s": {"max_age": 30_000_000_000, "duplicate_window": 30_000_000_000},
    "--max-bytes 1GB": {"max_bytes": 1 << 30},
    "--max-consumers 3": {"max_consumers": 3},
    "--max-msg-size 1KiB": {"max_msg_size": 1024},
    "--dupe-window 10s": {"duplicate_window": 10_000_000_000},
    "--allow-batch": {"allow_atomic": True},
    "--allow-fast": {"allow_batched": True},
    "--allow-counter": {"allow_msg_counter": True},
    "--allow-rollup": {"allow_rollup_hdrs": True},
    "--deny-delete --deny-purge": {"deny_delete": True, "deny_purge": True},
    "--no-allow-direct": {"allow_direct": False},
    "--allow-msg-ttl --subject-del-markers-ttl 1m": {
        "allow_msg_ttl": True,
        "subject_delete_marker_ttl": 60_000_000_000,
    },
    "--allow-schedules": {"allow_msg_schedules": True},
    "--transform-source '>' --transform-destination 'x.>'": {
        "subject_transform": {"src": ">", "dest": "x.>"}
    },
    "--republish-source s --republish-destination t --republish-headers": {
        "republish": {"src": "s", "dest": "t", "headers_only": True}
    },
    "--limit-consumer-inactive 1h --limit-consumer-max-pending 7": {
        "consumer_limits": {"inactive_threshold": 3_600_000_000_000, "max_ack_pending": 7}
    },
    "--persist-mode async": {"persist_mode": "async"},
    "--replicas 1 --allow-direct --ack --max-msgs=-1 --max-bytes -1 --max-age=-1": {
        "max_msgs": -1,
        "max_age": 0,
    },
}


@pytest.mark.parametrize("flags", FLAGS)
def test_each_flag_reaches_the_server(cli: Cli, flags: str) -> None:
    config = cli(f"stream add S --subjects s {flags} --json", status=0).json["config"]
    wanted = FLAGS[flags]
    if "subjects" in wanted:
        wanted = {"subjects": ["s", *wanted["subjects"]]}
    assert {key: config.get(key) for key in wanted} == wanted


def test_placement_is_sent(cli: Cli) -> None:
    """A single server has no cluster to place in, so the file says what would be sent."""
    line = "stream add S --subjects s --tag a --tag b --cluster c --metadata k=v --output -"
    config = json.loads(cli(line, status=0).out)
    assert config["placement"] == {"tags": ["a", "b"], "cluster": "c"}
    assert config["metadata"] == {"k": "v"}


def test_the_documents_lines_need_no_terminal(cli: Cli) -> None:
    tour = (
        'str add ORDERS --subjects "ORDERS.*" --ack --max-msgs=-1 --max-bytes=-1 --max-age=1y --storage file'
        " --retention limits --max-msg-size=-1 --discard=old"
    )
    assert cli(tour, status=0).out.startswith("Stream ORDERS was created\n")
    post = (
        'str add "LOGS_0" --subjects "logs.p0.>" --storage file --retention limits --max-msgs=-1'
        " --max-bytes=-1 --max-age 1d"
    )
    cli(post, status=0)
    assert cli("str ls --names", status=0).out == "LOGS_0\nORDERS\n"


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("stream add", "the stream's name"),
        ("stream add S", "--subjects"),
        ("stream add --subjects s", "name"),
    ],
)
def test_what_has_no_default_is_named(cli: Cli, line: str, missing: str) -> None:
    failed = cli(line, status=64)
    assert missing in failed.err and failed.err.count("\n") == 1
    assert cli("stream ls --json").json == []


def test_questions_only_for_what_flags_left_out(cli: Cli) -> None:
    line = "stream add S --subjects s --storage memory --retention interest --max-age 10s --replicas 1"
    outcome = cli(line, answers=["New", "100", ..., "1MB", ..., ..., True, False, ...], status=0)
    assert outcome.asked == [
        "Discard Policy",
        "Stream Messages Limit",
        "Per Subject Messages Limit",
        "Total Stream Size",
        "Max Message Size",
        "Duplicate tracking time window",
        "Allow message Roll-ups",
        "Allow message deletion",
        "Allow purging subjects or the entire stream",
    ]
    config = cli("stream info S --json").json["config"]
    assert (config["allow_rollup_hdrs"], config["deny_delete"], config["deny_purge"]) == (True, True, False)
    assert (config["discard"], config["max_msgs"], config["max_bytes"]) == ("new", 100, 1 << 20)
    assert config["duplicate_window"] == 10_000_000_000


@pytest.mark.parametrize(
    ("flags", "keys"),
    [
        ("--subjects s", {"name", "subjects"}),
        ("--subjects s --storage file --max-age 1m", {"name", "subjects", "storage", "max_age"}),
        ("--mirror O", {"name", "mirror", "duplicate_window"}),
        ("--source O", {"name", "sources", "duplicate_window"}),
    ],
)
def test_an_answer_that_is_the_servers_default_is_not_sent(
    cli: Cli, url: str, flags: str, keys: set[str]
) -> None:
    js.stream(url, "O", "o")
    asked = cli(f"stream add S {flags} --trace", answers={}, status=0)
    assert asked.asked
    [sent] = re.findall(r">>> \S+STREAM.CREATE.S\S*\s+({.*})", asked.err)
    # No server enables direct gets by itself, nor finds duplicates in a stream with sources, or in a
    # mirror that is promoted.
    assert json.loads(sent).keys() - {"allow_direct"} == keys
    made = js.info(url, "S")["config"]
    js.ask(url, "STREAM.DELETE.S")
    document = cli(f"stream add S {flags} --defaults --output -", status=0).out
    assert js.ask(url, "STREAM.CREATE.S", json.loads(document))["config"] == made


def test_defaults_ask_nothing(cli: Cli) -> None:
    assert cli("stream add S --subjects s --defaults", answers=[], status=0).asked == []


def test_a_start_is_asked_for_and_kept(cli: Cli) -> None:
    cli("stream add O --subjects o --defaults", status=0)
    cli(
        "stream add M --mirror O",
        answers={"Adjust mirror start": True, "Mirror Start Sequence": "5"},
        status=0,
    )
    assert cli("stream info M --json").json["config"]["mirror"] == {"name": "O", "opt_start_seq": 5}
    moment = "2026-01-01T00:00:00Z"
    answers = {'Adjust source "O" start': True, "O Source UTC Time Stamp": moment}
    cli("stream add T --source O", answers=answers, status=0)
    assert cli("stream info T --json").json["config"]["sources"] == [{"name": "O", "opt_start_time": moment}]


def test_an_account_that_wants_a_size(tmp_path: Path) -> None:
    from tests.support.servers import RealServer

    config = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts { A: { users: [{user: a, password: a}], jetstream: { max_bytes_required: true } } }
"""
    server = RealServer(tmp_path, config).start()
    try:
        cli = Cli(tmp_path / "config", server.url_for("a"))
        cli("stream add S --subjects s", status=0)
        assert cli("stream info S --json").json["config"]["max_bytes"] == 256 << 20
    finally:
        server.stop()


def test_an_existing_stream_is_not_created(cli: Cli) -> None:
    line = "stream add S --subjects s --defaults"
    assert cli(line, status=0).out.startswith("Stream S was created\n")
    assert cli(line, status=0).out.startswith("Stream S already exists, nothing was changed\n")
    failed = cli("stream add S --subjects t --defaults", status=1)
    assert "exists with another configuration (10058); jsctl stream edit" in failed.err
    assert cli("stream info S --json").json["config"]["subjects"] == ["s"]


def test_json_is_one_document(cli: Cli) -> None:
    outcome = cli("stream add S --subjects s --json", status=0)
    assert outcome.json["config"]["name"] == "S" and outcome.err == ""


@pytest.mark.parametrize("name", ["a.b", "a b", "a*", ">", "a/b", "", "x" * 256])
def test_bad_names_are_refused_before_any_request(offline_cli: Cli, name: str) -> None:
    failed = offline_cli(["stream", "add", name, "--subjects", "s", "--output", "-"], status=64)
    assert failed.err.count("\n") == 1 and failed.out == ""


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--subjects a..b", "not a valid subject"),
        ("--subjects s --mirror O", "mirror"),
        ("--mirror O --source P", "--mirror"),
        ("--subjects '>'", "--no-ack"),
        ("--subjects s --republish-source s", "--republish-destination"),
        ("--subjects s --transform-source s", "--transform-destination"),
        ("--subjects s --max-msg-size 4GB", "2 GiB"),
        ("--subjects s --replicas 0", "--replicas"),
        ("--subjects s --max-age soon", "duration"),
        ("--subjects s --metadata k", "KEY=VALUE"),
        ("--subjects s --metadata _nats.ver=1", "server"),
        ("--mirror O@", "domain"),
        ("--mirror O,nope=1", "nope"),
        ("--mirror O,start=soon", "soon"),
        ("--mirror '{\"nam\": 1}'", "name"),
        ("--mirror a.b", "not a valid stream name"),
        ("--subjects s --mirror-domain leaf", "--mirror"),
    ],
)
def test_wrong_flags_are_one_line(offline_cli: Cli, flags: str, words: str) -> None:
    failed = offline_cli(f"stream add S {flags} --validate", status=64)
    assert words in failed.err and failed.err.count("\n") == 1


def test_a_transform_of_part_of_a_token_is_warned_about(offline_cli: Cli) -> None:
    line = "stream add S --subjects s.* --transform-source s.* --transform-destination '{}' --validate"
    assert "whole token" in offline_cli(line.format("logs.p{{partition(10,1)}}.x"), status=0).err
    assert offline_cli(line.format("logs.{{partition(10,1)}}.x"), status=0).err == ""


def test_output_and_config(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    cli(f"stream add S --subjects s --max-age 1h --output {file}", status=0)
    assert cli("stream ls --json").json == []
    cli(f"stream add --config {file} --max-msgs 7", status=0)
    cli(f"stream add T --config {file} --subjects t", status=0)
    config = cli("stream info T --json").json["config"]
    assert (config["subjects"], config["max_age"], config["name"]) == (["t"], 3_600_000_000_000, "T")
    assert cli("stream info S --json").json["config"]["max_msgs"] == 7


def test_yaml_with_readable_values(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "name: S\nsubjects: [s]\nmax_age: 1d\nmax_bytes: 1MB\nplacement: {}\n"
        "sources:\n- name: O\n  opt_start_time: 2026-01-01T00:00:00Z\n"
    )
    config = cli(f"stream add --config {file} --json", status=0).json["config"]
    assert (config["max_age"], config["max_bytes"]) == (86_400_000_000_000, 1 << 20)
    assert config["sources"][0]["opt_start_time"] == "2026-01-01T00:00:00Z"


def test_a_whole_info_document_makes_the_same_stream(cli: Cli, tmp_path: Path) -> None:
    cli("stream add S --subjects s --max-age 31536000000000001ns --metadata k=v --allow-msg-ttl", status=0)
    file = tmp_path / "info.json"
    file.write_text(cli("stream info S --json", status=0).out)
    before = cli("stream info S --json").json["config"]
    cli("stream rm S -f", status=0)
    cli(f"stream add --config {file}", status=0)
    assert cli("stream info S --json").json["config"] == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1]", "object"),
        ("a: [", "s.conf:"),
        ("", "object"),
        ('{"config": {}}', "no stream"),
        ("max_age: x", "max_age"),
    ],
)
def test_broken_files(offline_cli: Cli, tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "s.conf"
    file.write_text(text)
    failed = offline_cli(f"stream add S --config {file}", status=64)
    assert words in failed.err and failed.err.count("\n") == 1


def test_an_old_configuration(cli: Cli, tmp_path: Path) -> None:
    """Of a server with stream templates; a present one refuses the key (10025)."""
    file = tmp_path / "old.json"
    file.write_text(
        '{"name": "S", "subjects": ["s"], "storage": "file", "template_owner": "", "num_replicas": 1}'
    )
    cli(f"stream add --config {file}", status=0)


def test_newer_keys_are_not_dropped(cli: Cli, tmp_path: Path) -> None:
    """They go to the server, which says what it thinks of them."""
    file = tmp_path / "new.json"
    file.write_text('{"name": "S", "subjects": ["s"], "extra": {"field_of_the_future": 1}}')
    assert "10025" in cli(f"stream add --config {file}", status=1).err
    assert json.loads(cli(f"stream add --config {file} --output -").out)["field_of_the_future"] == 1
    file.write_text('{"config": {"name": "S", "subjects": ["s"], "field_of_the_future": 1}, "state": {}}')
    assert json.loads(cli(f"stream add --config {file} --output -").out)["field_of_the_future"] == 1


@pytest.mark.parametrize("flags", ["", "--validate", "--output -", "--defaults"])
def test_an_unknown_key_is_refused_before_anything_is_asked(
    offline_cli: Cli, tmp_path: Path, flags: str
) -> None:
    file = tmp_path / "typo.json"
    for text, line in (
        ('{"subjects": ["s"],\n"max_mesgs": 5}', 2),
        ("subjects: [s]\nmax_age: 1d\nmax_mesgs: 5", 3),
        ('{"state": {}, "config": {"subjects": ["s"], "max_mesgs": 5}}', 1),
    ):
        file.write_text(text)
        failed = offline_cli(f"stream add --config {file} {flags}", answers=[], status=64)
        assert failed.err == (
            f"jsctl: error: {file}:{line}: unknown key 'max_mesgs' of a stream; did you mean 'max_msgs'?"
            " a key that is newer than jsctl goes below `extra:`\n"
        )
        assert failed.asked == []
    file.write_text('{"subjects": ["s"], "sources": [{"name": "O", "start_seq": 5}]}')
    assert "unknown key 'start_seq' of sources" in offline_cli(f"stream add --config {file} {flags}").err
    file.write_text('{"subjects": ["s"], "replicas": 3}')
    assert "it is num_replicas here" in offline_cli(f"stream add --config {file} {flags}").err


def test_fields_without_a_flag_survive(cli: Cli, url: str, tmp_path: Path) -> None:
    """A source's durable consumer has no flag; add, info and edit carry it."""
    sources = [{"name": "O", "consumer": {"name": "d", "deliver_subject": "d.s"}}]
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"name": "S", "sources": sources}))
    cli("stream add O --subjects o", status=0)
    cli(f"stream add --config {file}", status=0)
    cli("stream edit S --max-msgs 9 -f", status=0)
    config = js.ask(url, "STREAM.INFO.S")["config"]
    assert (config["sources"], config["max_msgs"]) == (sources, 9)
    assert "Consumer Name: d (d.s)" in cli("stream info S").out


@pytest.mark.parametrize("there", ["--js-domain hub", ""])
def test_an_origin_in_the_streams_own_domain_is_warned_about(
    hub_cli: Cli, there: str, tmp_path: Path
) -> None:
    result = "OWN@hub is never reached: that is the stream's own domain; write OWN"
    hub_cli(f"stream add OWN --subjects own {there} --defaults", status=0)
    added = hub_cli(f"stream add COPY --source OWN@hub --source FAR@leaf {there} --defaults", status=0)
    assert added.err == f"warning: {result}\n"
    edited = hub_cli(f"stream edit COPY --description x {there} --force", status=0)
    assert edited.err.startswith(f"warning: {result}\n")
    assert "warning" not in hub_cli(f"stream edit COPY --source OWN {there} --force", status=0).err
    file = tmp_path / "own.yaml"
    file.write_text("streams:\n  - {name: DECLARED, mirror: OWN@hub}\n")
    for line in ("diff", "apply"):
        outcome = hub_cli(f"{line} -f {file} {there}", status=2 if line == "diff" else 0)
        assert outcome.err.startswith(f"warning: {file}:2: stream DECLARED: {result}\n")
    info = hub_cli("stream info DECLARED --json", status=0).json
    assert info["mirror"]["active"] == -1
