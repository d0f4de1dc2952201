"""`context add`: files as the `nats` tool writes them."""

import json
from pathlib import Path

import pexpect
import pytest

from jsctl.contexts.model import KEYS
from jsctl.errors import ExitStatus
from tests.support.contexts import SECRET, stored, write
from tests.support.run import Cli


def test_add_writes_what_the_nats_tool_writes(cli: Cli) -> None:
    cli(
        "context add a -s nats://h:1 --user u --password p --js-domain hub --description D --colors red"
        " --inbox-prefix _X --tlsfirst --js-event-prefix ev --socks-proxy socks5://p:1 --select",
        status=0,
    )
    assert stored(cli, "a") == KEYS | {
        "url": "nats://h:1",
        "user": "u",
        "password": "p",
        "jetstream_domain": "hub",
        "description": "D",
        "color_scheme": "red",
        "inbox_prefix": "_X",
        "tls_first": True,
        "jetstream_event_prefix": "ev",
        "socks_proxy": "socks5://p:1",
    }
    assert list(stored(cli, "a")) == list(KEYS)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"


@pytest.mark.parametrize("verb", ["add", "create", "save"])
def test_add_without_a_terminal_asks_nothing(cli: Cli, verb: str) -> None:
    cli(f"ctx {verb} a", status=0)
    assert stored(cli, "a") == KEYS | {"url": "nats://127.0.0.1:4222"}


def test_add_applies_flags_to_what_is_there(cli: Cli) -> None:
    write(cli, "a", '{"url": "nats://h", "user": "u", "password": "p", "x_unknown": {"n": [1]}}')
    cli("context add a --js-domain leaf", status=0)
    assert stored(cli, "a") == KEYS | {
        "url": "nats://h",
        "user": "u",
        "password": "p",
        "jetstream_domain": "leaf",
        "x_unknown": {"n": [1]},
    }
    err = cli("context add a --token t --js-api-prefix JS.x", status=0).err
    assert "the login by user was replaced" in err
    after = stored(cli, "a")
    assert (after["user"], after["password"], after["token"]) == ("", "", "t")
    assert (after["jetstream_domain"], after["jetstream_api_prefix"]) == ("", "JS.x")
    cli("context add a --js-api-prefix '' --no-tlsfirst", status=0)
    assert stored(cli, "a")["jetstream_api_prefix"] == ""
    assert stored(cli, "a")["x_unknown"] == {"n": [1]}


def test_add_says_where_a_login_comes_from(cli: Cli) -> None:
    write(cli, "a", '{"url": "nats://h", "user": "u", "password": "p"}')
    assert "login" not in cli("context add a --description x", status=0).err
    assert "login" not in cli("context add a --server nats://h", status=0).err
    err = cli("context add a --server other", status=0).err
    assert err == "jsctl: the login by user is that of context 'a'\n"
    err = cli("context add b --context a --server third", status=0).err
    assert err == "jsctl: the login by user is that of context 'a'\n"
    err = cli("context add a --server fourth --token t", status=0).err
    assert err == "jsctl: the login by user was replaced\n"
    creds = cli.home / "x.creds"
    creds.write_text("x")
    err = cli("context add c --server other", environ={"NATS_CREDS": str(creds)}, status=0).err
    assert err == "jsctl: the login by creds is from the environment\n"


def test_add_from_another(cli: Cli) -> None:
    write(cli, "a", '{"url": "nats://h", "x_unknown": 1}')
    cli("context add b --context a --js-domain leaf", status=0)
    assert (stored(cli, "b")["url"], stored(cli, "b")["x_unknown"]) == ("nats://h", 1)
    assert stored(cli, "b")["jetstream_domain"] == "leaf"


def test_add_keeps_paths_useful_from_everywhere(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path / "keys", cli.home):
        folder.mkdir(exist_ok=True)
        (folder / "a.creds").touch()
    cli("context add a -s h --creds ./keys/a.creds", status=0)
    assert stored(cli, "a")["creds"] == str(Path.cwd() / "keys/a.creds")
    cli("context add a --creds '~/a.creds'", status=0)
    assert stored(cli, "a")["creds"] == "~/a.creds"


@pytest.mark.parametrize(
    "flags",
    [
        "--creds a --user u --password p",
        "--nsc nsc://o/a/u --creds c",
        "-s nats://h:port",
        "-s htp:/foo",
        "-s nats://h:",
        "-s nats://h/path",
        "--js-domain a --js-api-prefix b",
        "--js-domain 'a b'",
        "--colors pink",
        "--socks-proxy ftp://x",
    ],
)
def test_add_refuses(cli: Cli, flags: str) -> None:
    outcome = cli(f"context add a {flags}", status=ExitStatus.USAGE)
    assert outcome.err.count("\n") == 1
    assert not (cli.home / "nats").exists()


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "a\\b", "", ".hidden"])
def test_names_stay_in_the_folder(cli: Cli, name: str) -> None:
    cli("context add a", status=0)
    for words in (["add", name], ["copy", "a", name], ["rm", name, "-f"], ["select", name], ["info", name]):
        if words == ["select", ""] or words == ["info", ""]:
            continue  # no name at all
        assert cli(["context", *words]).status == ExitStatus.USAGE, words
    assert sorted(p.name for p in cli.home.rglob("*.json")) == ["a.json"]


def test_add_asks(cli: Cli) -> None:
    outcome = cli("context add a", answers=["nats://h:1", "user", "bob", SECRET, "hub", "The hub"], status=0)
    assert outcome.asked == [
        "Server URLs",
        "Login",
        "Username",
        "Password",
        "JetStream domain",
        "Description",
    ]
    assert stored(cli, "a") == KEYS | {
        "url": "nats://h:1",
        "user": "bob",
        "password": SECRET,
        "jetstream_domain": "hub",
        "description": "The hub",
    }
    assert SECRET not in outcome.out


@pytest.mark.parametrize(
    ("flags", "answers", "questions"),
    [
        ("-s nats://h:1 --creds /etc/hosts", [], []),
        ("-s nats://u:p@h:1", [], []),
        ("--nsc nsc://o/a/u", [], []),
        ("--defaults", [], []),
        ("-s nats://h:1", ["", "", "x"], ["Login", "JetStream domain", "Description"]),
        ("--token t --js-domain d --description x", ["nats://h:1"], ["Server URLs"]),
        (
            "-s tls://h --description x --js-domain ''",
            ["creds", "/etc/hosts", "/etc/passwd"],
            ["Login", "Credentials file", "CA certificate file"],
        ),
        ("-s nats://h --description x --js-domain d", ["jwt", "j", "s"], ["Login", "User JWT", "User seed"]),
        ("-s nats://h --description x --js-domain d", ["token", "t"], ["Login", "Token"]),
    ],
)
def test_add_asks_only_what_flags_left_out(
    cli: Cli, flags: str, answers: list[str], questions: list[str]
) -> None:
    assert cli(f"context add a {flags}", answers=answers, status=0).asked == questions


def test_add_on_a_known_context_asks_only_without_flags(cli: Cli) -> None:
    write(cli, "a", json.dumps({"url": "nats://h", "user": "u", "password": SECRET, "description": "D"}))
    assert cli("context add a --js-domain x", answers=[], status=0).asked == []
    # Every default keeps what is there; an empty secret stays.
    outcome = cli("context add a", answers={}, status=0)
    assert len(outcome.asked) == 6
    assert stored(cli, "a") == KEYS | {
        "url": "nats://h",
        "user": "u",
        "password": SECRET,
        "description": "D",
        "jetstream_domain": "x",
    }


@pytest.mark.slow
def test_add_in_a_terminal(cli: Cli) -> None:
    child = cli.terminal("context add hub")
    try:
        child.expect("Server URLs")
        child.sendline("")
        child.expect("Login")
        child.send("\x1b[B\r")  # the second: user and password
        child.expect("Username")
        child.sendline("acc")
        child.expect("Password")
        child.sendline(SECRET)
        child.expect("JetStream domain")
        child.sendline("hub")
        child.expect("Description")
        child.sendline("The hub")
        child.expect("NATS Configuration Context")
        child.expect_exact(
            "--user acc --password PASSWORD --js-domain hub --description 'The hub' --defaults"
        )
        child.expect(pexpect.EOF)
        assert child.before and SECRET not in child.before
    finally:
        child.close(force=True)
    assert (stored(cli, "hub")["user"], stored(cli, "hub")["password"]) == ("acc", SECRET)
    assert stored(cli, "hub")["url"] == "nats://127.0.0.1:4222"


@pytest.mark.slow
def test_ctrl_c_leaves_nothing(cli: Cli) -> None:
    child = cli.terminal("context add hub")
    try:
        child.expect("Server URLs")
        child.send("\x03")
        child.expect("nothing was changed")
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    assert child.exitstatus
    assert not (cli.home / "nats").exists()
