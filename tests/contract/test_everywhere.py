"""What works after every command: help, version, -a; and what errors say."""

from pathlib import Path

import pytest

from jsctl import __version__
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer


@pytest.mark.parametrize("line", ["help stream ls", "stream help ls", "stream ls --help"])
def test_help_works_everywhere(line: str, offline_cli: Cli) -> None:
    assert offline_cli(line, status=0).out.startswith("Usage: jsctl stream ls ")


@pytest.mark.parametrize("line", ["help", "stream help", "help stream", "stream cluster help", "report help"])
def test_help_of_groups(line: str, offline_cli: Cli) -> None:
    shown = offline_cli(line, status=0).out
    assert shown.startswith("Usage: jsctl")
    assert ("Streams and messages:" if line == "help" else "Commands:") in shown


def test_version(offline_cli: Cli) -> None:
    assert offline_cli("version", status=0).out.startswith(offline_cli("--version", status=0).out)
    for line in ("version --json", "--json version", "version --as json"):
        assert offline_cli(line, status=0).json["version"] == __version__
    for line in ("--json --version", "--version -j"):
        assert offline_cli(line, status=0).json == {"version": __version__}
    assert "did you mean 'stream'" in offline_cli("help strem", status=64).err


@pytest.mark.parametrize("slip", ["sel", "sea", "seall", "r", "rn", "purg", "purges", "pruge", "rmmm"])
@pytest.mark.parametrize("noun", ["stream", "consumer", "context"])
def test_what_destroys_is_never_suggested(noun: str, slip: str, offline_cli: Cli) -> None:
    err = offline_cli([noun, slip], status=64).err
    for verb in ("seal", "rm", "rmm", "purge"):
        assert f"'{verb}'" not in err


def test_hidden_streams_are_counted(cli: Cli, url: str) -> None:
    for name in ("A", "KV_b", "OBJ_o", "KV_c"):
        js.stream(url, name, f"s.{name}")
    for line in ("stream ls", "stream ls --json", "stream find", "stream find --json"):
        listed = cli(line, terminal_error=True, status=0)
        assert cli(line, status=0).err == ""
        assert "3 more with -a" in listed.err, line
        assert "KV_b" not in listed.out
        everything = cli(f"{line} -a", status=0)
        assert "KV_b" in everything.out
        assert "more with" not in everything.err


@pytest.mark.parametrize("flags", ["--names", "-n", "-n -a", "-n --json"])
@pytest.mark.parametrize("verb", ["ls", "find", "ls --subject s.>"])
def test_names_are_all_names(cli: Cli, url: str, verb: str, flags: str) -> None:
    """Scripts back up, compare and remove by this list, which the reference prints whole."""
    created = {"A", "KV_b", "OBJ_o", "KV_c", "$MQTT_msgs"}
    for name in created:
        js.stream(url, name, f"s.{name}")
    listed = cli(f"stream {verb} {flags}", status=0)
    assert set(listed.json if "json" in flags else listed.out.split()) == created
    assert listed.err == ""


def test_patterns_count_what_they_leave_out(cli: Cli, url: str) -> None:
    for name in ("A", "KV_b", "OBJ_o", "KV_c"):
        js.stream(url, name, f"s.{name}")
    for line in (
        "stream purge * --dry-run",
        "stream rm * KV_c --dry-run",
        "export config",
        "export config *",
    ):
        left_out = 2 if "KV_c" in line else 3
        assert f"{left_out} more with -a" in cli(line.split(), terminal_error=True, status=0).err, line
        assert "more with" not in cli([*line.split(), "-a"], terminal_error=True, status=0).err
    for line in ("stream rm K* -f", "stream purge K* -f", "export config K*"):
        assert "-a includes 2 of buckets" in cli(line.split(), status=3).err
    assert "3 more with -a" in cli("stream info", answers=["A"], terminal_error=True, status=0).err
    js.ask(url, "STREAM.DELETE.A")
    assert "-a includes 3 of buckets" in cli("stream info", answers=[], status=3).err


def test_all_after_every_verb_of_consumers(cli: Cli, url: str) -> None:
    js.stream(url, "KV_b", "b")
    js.ask(
        url,
        "CONSUMER.DURABLE.CREATE.KV_b.C",
        {"stream_name": "KV_b", "config": {"durable_name": "C", "ack_policy": "explicit"}},
    )
    for line in ("consumer -a report", "consumer report -a"):
        assert "KV_b" in cli(line, status=0).out
    assert "1 more with -a" in cli("consumer report", terminal_error=True, status=0).err
    for line in ("consumer info KV_b C -a", "consumer ls KV_b -a", "consumer -a info KV_b C"):
        cli(line, status=0)


@pytest.mark.parametrize(
    "address",
    [
        "not an address",
        "nats://h st",
        "4222",
        "999.1.1.1",
        "h:99999",
        "http://h",
        "nats://a..b",
        "[::1",
        "h$x",
    ],
)
def test_context_add_refuses_what_cannot_be_an_address(address: str, offline_cli: Cli) -> None:
    err = offline_cli(["context", "add", "x", "--server", address], status=64).err
    assert (
        "the port of the server address 'h:99999' is not valid"
        if address == "h:99999"
        else "valid server address"
    ) in err
    assert not offline_cli("context ls --names", status=0).out
    folder = offline_cli.home / "nats" / "context"
    folder.mkdir(parents=True)
    (folder / "y.json").write_text(f'{{"url": "{address}"}}')
    assert "address" in offline_cli("context validate", status=1).out


@pytest.mark.parametrize(
    "address", ["h", "h:4222", "nats://a_b-c.d:1", "[::1]:4222", "127.0.0.1", "a.b.", "wss://é.x"]
)
def test_addresses(address: str, offline_cli: Cli) -> None:
    offline_cli(["context", "add", "x", "--server", address], status=0)


@pytest.mark.parametrize("flag", ["--creds", "--nkey", "--tlscert", "--tlskey", "--tlsca"])
def test_context_add_warns_of_a_file_that_is_to_come(flag: str, offline_cli: Cli, tmp_path: Path) -> None:
    """As `nats` saves it; what can never be read is refused."""
    err = offline_cli(["context", "add", "x", flag, str(tmp_path)], status=64).err
    assert "directory" in err and "not saved" in err
    assert not offline_cli("context ls --names", status=0).out
    saved = offline_cli(["context", "add", "x", flag, str(tmp_path / "nope")], status=0)
    assert saved.err == f"warning: {flag}: {tmp_path}/nope does not exist yet\n"
    assert offline_cli("context ls --names", status=0).out == "x\n"
    if flag in ("--creds", "--nkey"):
        line = ["context", "add", "y", flag, str(tmp_path / "nope"), "--embed"]
        assert "No such file" in offline_cli(line, status=64).err
    key = {"--tlscert": "cert", "--tlskey": "key", "--tlsca": "ca"}.get(flag, flag[2:])
    folder = offline_cli.home / "nats" / "context"
    (folder / "y.json").write_text(f'{{"url": "nats://h", "{key}": "{tmp_path}/nope"}}')
    offline_cli("context validate", status=1)


def test_the_mark_of_local_servers_is_neither_copied_nor_shown(offline_cli: Cli) -> None:
    folder = offline_cli.home / "nats" / "context"
    folder.mkdir(parents=True)
    (folder / "y.json").write_text('{"url": "nats://h", "jsctl_server": {"folder": "/f", "digest": "d"}}')
    assert "jsctl_server" not in offline_cli("context info y", status=0).out
    assert "jsctl_server" not in offline_cli("context info y --json", status=0).out
    offline_cli("context copy y z", status=0)
    assert "jsctl_server" not in (folder / "z.json").read_text()
    assert "jsctl_server" in (folder / "y.json").read_text()


CONFIG = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts {
  A: { jetstream: enabled, users: [
    { user: quiet-admin, password: quiet-admin }
    { user: quiet, password: quiet, permissions: { publish: { deny: ["Upper.>", "$JS.>"] } } }
    { user: deaf, password: deaf, permissions: { subscribe: { allow: ["MINE.>"] } } }
  ] }
}
"""

DEAF = (
    "stream ls",
    "request a b",
    "consumer add S NEW --pull --defaults",
    "stream add NEW --subjects new --defaults",
    "stream edit S --description x --force",
    "stream rm S --force",
    "stream purge S --force",
    "backup stream S folder",
    "kv add B",
    "object add B",
    "pub s x -J",
    "pub s x -J --count 3 --atomic",
    "service ls",
    "service ping",
    "account info",
    "server ping",
    "consumer next S NEW",
    "stream get S 1",
    "stream view S",
    "bench js pub sync s --create --msgs 1 --no-progress",
)
"""What a login that receives no replies tries. It is refused before anything is sent."""


def test_permission_errors(tmp_path: Path) -> None:
    server = RealServer(tmp_path / "server", CONFIG).start()
    try:
        quiet = Cli(tmp_path / "a", server.url_for("quiet"))
        for line in ("publish Upper.Case x", "request Upper.Case x", "stream ls"):
            output = quiet(line, status=5).err.splitlines()[-1]
            subject = "$JS.API" if line == "stream ls" else "Upper.Case"
            assert output.count(subject) == 1, output
        deaf = Cli(tmp_path / "b", server.url_for("deaf"))
        js.stream(server.url_for("quiet-admin"), "S", "s")
        before = js.info(server.url_for("quiet-admin"), "S")
        for line in DEAF:
            outcome = deaf(line, status=5)
            (output,) = outcome.err.splitlines()[-1:]
            assert (
                "not allowed to subscribe to _INBOX.>, where replies arrive (Permissions Violation); ask for"
                in output
            ), output
            assert "--inbox-prefix" in output and outcome.err.count("_INBOX.") == 1, outcome
        after = js.info(server.url_for("quiet-admin"), "S")
        assert (after["state"], after["config"]) == (before["state"], before["config"])
        assert deaf("pub s x", status=0).out == ""
        deaf("stream ls --inbox-prefix MINE", status=0)
        assert "--inbox-prefix" in deaf("stream ls --inbox-prefix Yours", status=5).err
    finally:
        server.stop()


def test_a_local_server_is_offered_for_local_addresses_only(offline_cli: Cli) -> None:
    assert "server run" in offline_cli("stream ls --server nats://127.0.0.1:1", status=4).err
    assert "server run" in offline_cli("stream ls --server nats://localhost:1", status=4).err
    err = offline_cli("stream ls --server nats://no-such-host.invalid:1 --timeout 2s", status=4).err
    assert "server run" not in err


def test_errors_break_between_words_on_a_terminal(offline_cli: Cli) -> None:
    line = "stream ls --server nats://127.0.0.1:1"
    plain = offline_cli(line, status=4).err
    assert len(plain.splitlines()) == 1
    folded = offline_cli(line, tty=True, width=40, status=4).err
    assert " ".join(folded.split()) == " ".join(plain.split())
    assert all(len(part) <= 40 for part in folded.splitlines())


@pytest.mark.parametrize(
    "line",
    [
        "stream add S --subjects s --defaults --max-age= --max-bytes= --max-msg-size= --dupe-window=",
        "consumer add BASE C --pull --defaults --heartbeat= --wait= --inactive-threshold=",
        "kv add B --ttl= --max-value-size= --max-bucket-size=",
        "object add B --ttl= --max-bucket-size=",
        "stream edit BASE --max-age= --force --description x",
        "stream copy BASE S --subjects s --max-age= --max-bytes=",
        "sub --since= x --count 1 --wait 10ms",
    ],
)
def test_an_empty_limit_is_none(cli: Cli, url: str, line: str) -> None:
    """Scripts pass `--max-age "$AGE"`, which may be empty."""
    js.stream(url, "BASE", "base", max_age=3_600_000_000_000)
    cli(line, status=0)
    assert js.info(url, "BASE")["config"]["max_age"] == 3_600_000_000_000
    created = [name for name in cli("stream ls -n", status=0).out.split() if name != "BASE"]
    for name in created:
        config = js.info(url, name)["config"]
        assert (config["max_age"], config["max_bytes"]) in ((0, -1), (3_600_000_000_000, -1)), config
    assert len(created) == (line.split()[1] in ("add", "copy") and not line.startswith("consumer"))


@pytest.mark.parametrize(
    "line", ["stream find --idle=", "stream find --created=", "consumer find BASE --idle="]
)
def test_an_empty_condition_is_not_all(cli: Cli, url: str, line: str) -> None:
    js.stream(url, "BASE", "base")
    assert "'' is not a duration" in cli(line, status=64).err
