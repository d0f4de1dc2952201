"""What holds for every verb of a noun: a wrong name, no server, the wrong domain and no rights end in the
same exit status and one line, and `--json` prints one document.

The command lines are the examples of the verbs' help, with other names; a new verb is tested by being in
the registry.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl import registry
from jsctl.commands.cli.declare import Argument
from jsctl.localserver.state import NetworkState, save_state
from jsctl.registry.noun_record import Noun
from tests.contract.test_commands import VERBS, parse, resolve
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_for

NAMES = {
    "stream": "ORDERS",
    "consumer": "NEW",
    "bucket": "CONFIG",
    "key": "user.1",
    "pcgroup": "WORK",
    "counter": "hits.home",
    "object bucket": "FILES",
    "object": "report.pdf",
}

CREATES = {path for path in VERBS if path.endswith(" add")}
"""Verbs whose argument is a new name."""

STREAMING = {"stream graph", "consumer graph", "consumer sub", "consumer events", "object watch", "kv watch"}
"""Verbs that print a document for each event, until ctrl-C."""

WAITING = {"consumer wait", "kv wait"}
"""Verbs that wait for what the consumer and the bucket of `test_json_is_one_document` never have."""

SCREENS = {"stream graph", "consumer graph"}
"""Verbs that need a terminal, or a number of rounds."""

REFUSED = {
    "stream cluster step-down": "one replica",
    "stream cluster evacuate": "not in a cluster",
    "stream cluster cancel-move": "not in a cluster",
    "consumer cluster evacuate": "not in a cluster",
    "consumer cluster cancel-move": "is not moving",
    "stream cluster peer-remove": "not in a cluster",
    "consumer cluster step-down": "one replica",
    "consumer cluster balance": "replicas",
    "consumer resume": "not paused",
    "consumer unpin": "does not pin clients",
    "consumer pcgroup step-down": "no process of member m1",
}
"""What an unreplicated stream and a plain consumer refuse, and in which words."""


def nouns_of(path: str) -> list[Noun]:
    """The nouns that a verb takes the names of."""
    return [
        registry.find_noun(param.noun)
        for param in resolve(path.split()).params
        if isinstance(param, Argument) and param.noun
    ]


def command_line(path: str, names: dict[str, str], folder: Path) -> list[str]:
    """The first example that names every noun of the verb, with these names, writing below `folder`."""
    for example in resolve(path.split()).examples:  # type: ignore[attr-defined]
        ctx = parse(example)
        words = shlex.split(example, comments=True)[1:]
        words = words[
            : next((at for at, word in enumerate(words) if word in ("|", ">", "<", "&&")), len(words))
        ]
        replaced = 0
        for param in ctx.command.params:
            if not isinstance(param, Argument) or not param.noun:
                continue
            value = ctx.params[param.name or ""]
            values = value if isinstance(value, tuple) else (value,) if value else ()
            for one in values:
                words[words.index(one)] = names[param.noun]
            replaced += bool(values)
        if replaced == len(nouns_of(path)):
            words += ["--count", "1"] if path in SCREENS else []
            return [str(folder / word.lstrip("/")) if word.startswith("/") else word for word in words]
    raise AssertionError(f"no example of {path} names its {nouns_of(path)[0].name}")


def add_object(cli: Cli, bucket: str, name: str, folder: Path) -> None:
    """Make a bucket with an object in it."""
    (folder / name).write_text("x")
    cli(["object", "add", bucket], status=0)
    cli(["object", "put", bucket, str(folder / name), "--name", name], status=0)


def assert_fails(cli: Cli, line: list[str], status: int, words: str = "") -> None:
    """The command line fails with this status and one line, and prints nothing else."""
    outcome = cli(line)
    assert outcome.status == status, outcome
    assert outcome.out == ""
    assert len(outcome.err.splitlines()) == 1, outcome.err
    assert outcome.err.startswith("jsctl: error: ")
    assert words in outcome.err


NEEDS_SPARK = ["export stream"]
"""Verbs that start Spark before they look for the server: tests/commands/export/test_nouns.py tries them."""

WITHOUT_JETSTREAM = [p for p in VERBS if p.startswith("service ")]
OF_SERVERS = [
    p
    for p in VERBS
    if nouns_of(p) and not nouns_of(p)[0].offline and p not in (*CREATES, *WITHOUT_JETSTREAM, *NEEDS_SPARK)
]
OFFLINE = [p for p in VERBS if nouns_of(p) and nouns_of(p)[0].offline and p not in CREATES]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """A server with user `all`, and user `none`, who may not use JetStream."""
    config = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts {
  A: { jetstream: enabled, users: [
    { user: all, password: all }
    { user: none, password: none, permissions: { publish: { deny: "$JS.>" } } }
  ] }
}
"""
    running = RealServer(tmp_path_factory.mktemp("nouns"), config).start()
    js.stream(running.url_for("all"), "PRESENT", "present")
    cli = Cli(tmp_path_factory.mktemp("home"), running.url_for("all"))
    add_object(cli, "PRESENT", "PRESENT", tmp_path_factory.mktemp("files"))
    js.bucket(running.url_for("all"), "PRESENT")
    js.stream(running.url_for("all"), "COUNTS", "PRESENT", allow_msg_counter=True, allow_direct=True)
    js.publish_framed(running.url_for("all"), "PRESENT", b"NATS/1.0\r\nNats-Incr: 1\r\n\r\n", b"")
    js.publish(running.url_for("all"), "$KV.PRESENT.PRESENT")
    cli("consumer pcgroup create PRESENT PRESENT 4 m1 m2", status=0)
    yield running
    running.stop()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, for examples that write files, with what they read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / NAMES["object"]).write_text("x")
    return tmp_path


@pytest.mark.parametrize("path", OF_SERVERS)
def test_an_unknown_name_is_not_found(path: str, here: Path, server: RealServer) -> None:
    assert_unknown(path, here, server)


def assert_unknown(path: str, here: Path, server: RealServer) -> None:
    cli = Cli(here, server.url_for("all"))
    nouns = nouns_of(path)
    for noun in nouns:
        names = {one.name: "NOPE" if one == noun else "PRESENT" for one in nouns}
        parent = names.get(noun.parent, "")
        hint = noun.missing("NOPE", parent)[1]
        assert_fails(cli, command_line(path, names, here), 3, hint)


@pytest.mark.parametrize("path", OF_SERVERS)
def test_no_server_and_no_jetstream_are_unreachable(path: str, here: Path, server: RealServer) -> None:
    assert_unreachable(path, here, server)


def assert_unreachable(path: str, here: Path, server: RealServer) -> None:
    cli = Cli(here, server.url_for("all"))
    line = command_line(path, dict.fromkeys(NAMES, "NOPE"), here)
    assert_fails(cli, [*line, "--server", "nats://127.0.0.1:1"], 4)
    assert_fails(cli, [*line, "--js-domain", "nowhere"], 4, "nowhere")


@pytest.mark.parametrize("path", OF_SERVERS)
def test_a_missing_right_is_denied(path: str, here: Path, server: RealServer) -> None:
    assert_denied(path, here, server)


def assert_denied(path: str, here: Path, server: RealServer) -> None:
    cli = Cli(here, server.url_for("none"))
    assert_fails(cli, command_line(path, dict.fromkeys(NAMES, "NOPE"), here), 5, "ermission")


@pytest.mark.parametrize(
    "path",
    [p for p in OF_SERVERS if p not in STREAMING | WAITING and not p.startswith(("export ", "schedule "))],
)
def test_json_is_one_document(path: str, here: Path, cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "ORDERS.*", allow_direct=True)
    pull = {"durable_name": "NEW", "ack_policy": "explicit", "max_deliver": -1}
    js.ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.NEW", {"stream_name": "ORDERS", "config": pull})
    js.publish(url, "ORDERS.received", count=8)
    add_object(cli, "FILES", NAMES["object"], here)
    js.stream(url, "HITS", "hits.>", allow_msg_counter=True, allow_direct=True)
    js.publish_framed(url, "hits.home", b"NATS/1.0\r\nNats-Incr: 1\r\n\r\n", b"")
    js.bucket(url, "CONFIG", max_msgs_per_subject=8)
    js.publish(url, "$KV.CONFIG.user.1", count=7)
    cli("consumer pcgroup create ORDERS WORK 4 m1 m2", status=0)
    cli.environ["EDITOR"] = "true"
    line = [*command_line(path, NAMES, here), "--json"]
    if any("--force" in param.opts for param in resolve(path.split()).params):
        line.append("--force")
    outcome = cli(line, status=1 if path in REFUSED else 0)
    if path in REFUSED:
        assert outcome.out == ""
        assert REFUSED[path] in outcome.err
    else:
        json.loads(outcome.out)


@pytest.mark.parametrize("path", OFFLINE)
def test_an_unknown_name_on_this_machine_is_not_found(path: str, here: Path, offline_cli: Cli) -> None:
    noun = nouns_of(path)[0]
    names = {noun.name: "nope"}
    assert_fails(offline_cli, command_line(path, names, here), 3, noun.missing("nope")[1])


@pytest.fixture
def served(server: RealServer, tmp_path: Path) -> Iterator[None]:
    """The service PRESENT runs."""
    cli = Cli(tmp_path, server.url_for("all"))
    running = cli.start("service serve PRESENT", stdout=None, stderr=subprocess.DEVNULL)
    wait_for(lambda: cli("service list --json", status=0).json, "the service answers")
    yield
    running.terminate()
    running.wait()


@pytest.mark.parametrize("path", [p for p in WITHOUT_JETSTREAM if nouns_of(p)])
def test_an_unknown_service_is_not_found(path: str, here: Path, server: RealServer) -> None:
    cli = Cli(here, server.url_for("none"))
    line = command_line(path, {"service": "NOPE"}, here)
    assert_fails(cli, line, 3, registry.find_noun("service").missing("NOPE")[1])
    assert_fails(cli, [*line, "--server", "nats://127.0.0.1:1"], 4)


@pytest.mark.slow
@pytest.mark.parametrize("noun", registry.list_nouns(), ids=lambda noun: noun.name)
def test_names_complete(
    noun: Noun, server: RealServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    cli = Cli(tmp_path, server.url_for("all"))
    cli(f"context add here --server {server.url_for('all')}", status=0)
    pull = {"durable_name": "PULLS", "ack_policy": "explicit"}
    body = {"stream_name": "PRESENT", "config": pull}
    js.ask(server.url_for("all"), "CONSUMER.DURABLE.CREATE.PRESENT.PULLS", body)
    if noun.name == "service":
        request.getfixturevalue("served")
    if noun.name == "network":
        folder = tmp_path / ".local/share/jsctl/here"
        folder.mkdir(parents=True)
        save_state(folder, NetworkState("here", "single", "2.15.1", []))
    path = next(path for path in VERBS if nouns_of(path) and nouns_of(path)[-1] == noun)
    words = ["jsctl", *path.split(), *(["PRESENT"] if noun.parent else []), ""]
    environ = {"_JSCTL_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words)}
    shown = subprocess.run(
        [sys.executable, "-m", "jsctl"],
        env={**os.environ, **cli.environ, **environ, "COMP_CWORD": str(len(words) - 1)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    others = {
        "consumer": "PULLS",
        "context": "here",
        "network": "here",
        "schema": "io.nats.micro.v1.ping_response",
    }
    expected = others.get(noun.name, "PRESENT")
    assert f"plain,{expected}" in shown.splitlines()
