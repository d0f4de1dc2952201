"""`jsctl compat`, and a link called nats: the outcome of nats where jsctl differs on purpose."""

import json
import os
import shlex
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_until


def test_each_difference(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=3)
    js.bucket(url, "CONFIG")
    for line, ours, nats in (
        ("stream info NOPE", 3, 1),
        ("stream ls --no-such-flag", 64, 1),
        ("request nobody hi", 4, 0),
        ("request nobody hi --server nats://127.0.0.1:1", 4, 1),
        ("rtt --server nats://127.0.0.1:1", 4, 0),
        ("server check connection --server nats://127.0.0.1:1", 2, 2),
        ("request $JS.API.INFO --replies 2 --timeout 300ms", 4, 0),
        ("schema validate stream_msg_get_request -", 1, 0),
        ("stream ls", 0, 0),
    ):
        assert cli(line, stdin='{"a": 1}').status == ours, line
        assert cli(f"compat -- {line}", stdin='{"a": 1}').status == nats, line
    assert cli("kv put CONFIG a v1", status=0).out == "CONFIG > a revision: 1\n"
    assert cli("compat -- kv put CONFIG a v1", status=0).out == "v1\n"
    assert cli("compat kv create CONFIG b v1", status=0).out == "v1\n"
    assert cli("compat -- kv update CONFIG a v2 2", status=0).out == "v2\n"
    assert cli("compat -- kv put CONFIG c", stdin="v1", status=0).out == "\n", (
        "the argument, not what is stored"
    )
    cli("stream edit ORDERS --max-msgs 1 -f", status=64)
    assert js.info(url, "ORDERS")["state"]["messages"] == 3
    cli("compat -- stream edit ORDERS --max-msgs 1 -f", status=0)
    assert js.info(url, "ORDERS")["state"]["messages"] == 1
    cli("consumer add ORDERS C --pull --defaults", status=0)
    cli("consumer add ORDERS C --pull --defaults --max-deliver 7", status=1)
    cli("compat -- consumer add ORDERS C --pull --defaults --max-deliver 7", status=0)
    assert cli("consumer info ORDERS C --json", status=0).json["config"]["max_deliver"] == 7


def test_messages_that_are_refused(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    for line in (
        "pub orders.* x --jetstream",
        "pub orders.> x --jetstream --count 2",
        "pub 'orders.*.{{Count}}' x --jetstream",
        "request orders.* x",
        "pub orders.new x --schedule-dest orders.old",
    ):
        before = js.info(url, "ORDERS")["state"]["messages"]
        cli(line, status=64)
        assert js.info(url, "ORDERS")["state"]["messages"] == before, line
        cli(f"compat -- {line}", status=0)
        assert js.info(url, "ORDERS")["state"]["messages"] > before, line
    cli("compat -- pub orders..new x", status=1)
    cli("compat -- pub orders.new x --schedule-at 2030-01-01T00:00:00Z --schedule-after 1s", status=1)


def test_keys_that_are_unknown(cli: Cli, url: str, tmp_path: Path) -> None:
    config = {"name": "ORDERS", "subjects": ["orders.>"], "max_mgs": 5, "placement": {"tag": "a"}}
    stream, consumer = tmp_path / "stream.json", tmp_path / "consumer.json"
    stream.write_text(json.dumps(config))
    consumer.write_text(json.dumps({"name": "C", "ack_policy": "explicit", "delivery_subject": ""}))
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps({**config, "max_msgs": 5}))
    for line in (
        f"stream add --config {stream}",
        f"stream edit ORDERS --config {changed} -f",
        f"consumer add ORDERS --config {consumer}",
        f"consumer edit ORDERS C --config {consumer} --max-deliver 5 -f",
    ):
        assert "unknown key" in cli(line, status=64).err, line
        cli(f"compat -- {line}", status=0)
    live = js.info(url, "ORDERS")["config"]
    assert live["max_msgs"] == 5 and "max_mgs" not in live
    assert cli("consumer info ORDERS C --json", status=0).json["config"]["max_deliver"] == 5


def test_copies_over_what_exists(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    for name in "C", "D":
        cli(f"consumer add ORDERS {name} --pull --defaults", status=0)
    for name, status in ("C", 64), ("D", 1):
        line = f"consumer copy ORDERS C {name} --max-deliver 7"
        cli(line, status=status)
        cli(f"compat -- {line}", status=0)
        info = cli(f"consumer info ORDERS {name} --json", status=0).json
        assert info["name"] == name and info["config"]["max_deliver"] == 7


def test_benchmarks_on_any_stream(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=3)
    line = "bench js pub sync orders.new --stream ORDERS --purge --msgs 5 --no-progress"
    assert "which no benchmark created" in cli(line, status=64).err
    assert js.info(url, "ORDERS")["state"]["messages"] == 3
    cli(f"compat -- {line}", status=0)
    assert js.info(url, "ORDERS")["state"]["messages"] == 5


def test_a_long_history(cli: Cli, url: str) -> None:
    assert "at most 64" in cli("compat -- kv add CONFIG --history 65", status=1).err
    assert "more than other clients" in cli("kv add CONFIG --history 65", status=0).err
    assert "at most 64" in cli("compat -- kv edit CONFIG --history 66", status=1).err
    cli("compat -- kv edit CONFIG --history 64 -f", status=0)


def test_the_first_of_several_starts(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=9)
    flags = ("--start-sequence 5", "--last", "--all", "--new", "--since 1h", "--last-per-subject")
    for first, second in combinations(flags, 2):
        line = f"sub --stream ORDERS {second} {first} --raw --wait 300ms --count 9"
        assert "cannot be used together" in cli(line, status=64).err
        shown = cli(f"compat -- {line}")
        assert shown.out == cli(line.replace(f" {second}", "")).out, line


def test_one_of_two_that_exclude_each_other(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    backoff = "--backoff linear --backoff-steps 3 --backoff-min 1s --backoff-max 3s"
    add = f"consumer add ORDERS C --pull {backoff} --defaults"
    assert "--wait is the first step of --backoff" in cli(f"{add} --wait 9s", status=64).err
    cli(f"compat -- {add} --wait 9s", status=0)
    assert cli("consumer info ORDERS C --json", status=0).json["config"]["ack_wait"] == 10**9
    for words, answer in (
        ("body --echo", "hi\n"),
        ("body --command 'echo cmd'", "cmd\n"),
        ("body --echo --command true", "hi\n"),
    ):
        assert "exclude each other" in cli(f"reply svc {words}", status=64).err
        replier = cli.start(["compat", "--", "reply", "svc", "--count", "1", *shlex.split(words)])
        wait_until(lambda: cli("request svc hi --raw --timeout 300ms").out, answer.__eq__)
        replier.wait()


def test_backups_that_exist(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    backup, restore = f"backup account {tmp_path / 'b'}", f"backup restore account {tmp_path / 'b'}"
    assert "use --force" in cli(f"compat -- {backup}", status=1).err
    cli(f"compat -- {backup} -f", status=0)
    saved = sorted((tmp_path / "b" / "ORDERS").iterdir())
    assert "choose another folder" in cli(f"compat -- {backup} -f", status=1).err
    assert sorted((tmp_path / "b" / "ORDERS").iterdir()) == saved
    cli(f"{backup} -f", status=0)
    assert "stream ORDERS already exists" in cli(f"compat -- {restore}", status=1).err
    cli(restore, status=0)
    cli("stream rm ORDERS -f", status=0)
    cli(f"compat -- {restore}", status=0)


def test_an_edit_of_nothing(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli("consumer add ORDERS C --pull --defaults", status=0)
    js.bucket(url, "CONFIG")
    cli("object add FILES", status=0)
    verbs = ("stream edit ORDERS", "consumer edit ORDERS C", "kv edit CONFIG", "object edit FILES")
    for line in (f"{verb} -f" for verb in verbs):
        assert "there is nothing to change" in cli(line, status=64).err
        assert "No difference" in cli(f"compat -- {line}", status=0).out


def test_streams_by_subject(cli: Cli, url: str) -> None:
    js.stream(url, "ALL", "all.>")
    js.stream(url, "SOME", "some.new", "some.old")
    for subject, ours, nats in (
        ("all.*", "ALL\n", "\n"),
        ("all.>", "ALL\n", "ALL\n"),
        ("some.*", "SOME\n", "SOME\n"),
        ("*.new", "ALL\nSOME\n", "SOME\n"),
        (">", "ALL\nSOME\n", "ALL\nSOME\n"),
    ):
        line = f"stream find -n --subject {subject}"
        assert cli(line, status=0).out == ours
        assert cli(f"compat -- {line}", status=0).out.strip() == nats.strip(), subject


def test_no_services(cli: Cli) -> None:
    assert cli("service list --json", status=0).json == []
    assert "no services answered" in cli("compat -- service list", status=1).err


def test_a_context_that_cannot_connect(cli: Cli) -> None:
    cli("context add gone --server nats://127.0.0.1:1", status=0)
    cli("context info gone --connect", status=4)
    cli("compat -- context info gone --connect", status=0)


def test_a_file_is_the_whole_configuration(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>", max_msgs=9)
    js.ask(
        url,
        "CONSUMER.CREATE.ORDERS.C",
        {
            "stream_name": "ORDERS",
            "config": {"durable_name": "C", "ack_policy": "explicit", "max_deliver": 7},
        },
    )
    (tmp_path / "s.json").write_text('{"name": "ORDERS", "subjects": ["orders.>"], "max_age": 3600000000000}')
    (tmp_path / "c.json").write_text('{"durable_name": "C", "ack_policy": "explicit", "description": "x"}')
    for words, limit, deliveries in (("", 9, 7), ("compat -- ", -1, -1)):
        cli(f"{words}stream edit ORDERS --config {tmp_path / 's.json'} -f", status=0)
        cli(f"{words}consumer edit ORDERS C --config {tmp_path / 'c.json'} -f", status=0)
        assert js.info(url, "ORDERS")["config"]["max_msgs"] == limit
        config = cli("consumer info ORDERS C --json", status=0).json["config"]
        assert (config["max_deliver"], config["description"]) == (deliveries, "x")


def test_fewer_servers_than_expected(system_url: str, tmp_path: Path) -> None:
    system = Cli(tmp_path / "system", system_url)
    assert system("server list 2 --timeout 300ms").status == 1
    assert system("compat -- server list 2 --timeout 300ms").status == 0


def test_a_lists_rest_is_the_body(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    (tmp_path / "list").write_text("a\nb\nc\n")
    for words, status, stored in (([], 64, 0), (["compat", "--"], 0, 1)):
        with (tmp_path / "list").open() as file:
            os.lseek(file.fileno(), 2, os.SEEK_SET)
            assert cli.start([*words, "pub", "orders.new"], stdin=file).wait() == status
        assert js.info(url, "ORDERS")["state"]["messages"] == stored


@pytest.mark.slow
def test_a_link_called_nats(cli: Cli, url: str, tmp_path: Path) -> None:
    js.bucket(url, "CONFIG")
    script = Path(sys.executable).parent / "jsctl"
    link = tmp_path / "nats"
    link.symlink_to(script)

    def run(*words: str) -> tuple[int, str]:
        environ = {**os.environ, **cli.environ}
        done = subprocess.run([link, *words], env=environ, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    assert run("stream", "info", "NOPE") == (1, "")
    assert run("kv", "put", "CONFIG", "a", "v1") == (0, "v1\n")
    assert run("req", "nobody", "x")[0] == 0
    assert cli.start("stream info NOPE").wait() == 3
