"""`jsctl context`: the files that the `nats` tool uses."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from jsctl.contexts.model import KEYS
from jsctl.errors import ExitStatus
from tests.support.run import Cli
from tests.support.servers import HubLeaf, RealServer

SECRET = "Tr0ub4dor"


@pytest.fixture
def cli(offline_cli: Cli) -> Cli:
    offline_cli.environ["PROMPT_TOOLKIT_NO_CPR"] = "1"  # pexpect does not answer where the cursor is
    return offline_cli


def stored(cli: Cli, name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((cli.home / "nats" / "context" / f"{name}.json").read_text())
    return document


def write(cli: Cli, name: str, text: str) -> Path:
    path = cli.home / "nats" / "context" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_add_writes_what_the_nats_tool_writes(cli: Cli) -> None:
    cli(
        "context add a -s nats://h:1 --user u --password p --js-domain hub --description D --colors red"
        " --inbox-prefix _X --tlsfirst --js-event-prefix ev --socks-proxy socks5://p:1 --select",
        status=0,
    )
    assert stored(cli, "a") == KEYS | {
        "url": "nats://h:1", "user": "u", "password": "p", "jetstream_domain": "hub", "description": "D",
        "color_scheme": "red", "inbox_prefix": "_X", "tls_first": True, "jetstream_event_prefix": "ev",
        "socks_proxy": "socks5://p:1",
    }  # fmt: skip
    assert list(stored(cli, "a")) == list(KEYS)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"


@pytest.mark.parametrize("verb", ["add", "create", "save"])
def test_add_without_a_terminal_asks_nothing(cli: Cli, verb: str) -> None:
    cli(f"ctx {verb} a", status=0)
    assert stored(cli, "a") == KEYS | {"url": "nats://127.0.0.1:4222"}


def test_add_lays_flags_over_what_is_there(cli: Cli) -> None:
    write(cli, "a", '{"url": "nats://h", "user": "u", "password": "p", "x_unknown": {"n": [1]}}')
    cli("context add a --js-domain leaf", status=0)
    assert stored(cli, "a") == KEYS | {
        "url": "nats://h", "user": "u", "password": "p", "jetstream_domain": "leaf", "x_unknown": {"n": [1]},
    }  # fmt: skip
    said = cli("context add a --token t --js-api-prefix JS.x", status=0).err
    assert "the login by user was replaced" in said
    after = stored(cli, "a")
    assert (after["user"], after["password"], after["token"]) == ("", "", "t")
    assert (after["jetstream_domain"], after["jetstream_api_prefix"]) == ("", "JS.x")
    cli("context add a --js-api-prefix '' --no-tlsfirst", status=0)
    assert stored(cli, "a")["jetstream_api_prefix"] == ""
    assert stored(cli, "a")["x_unknown"] == {"n": [1]}


def test_add_from_another(cli: Cli) -> None:
    write(cli, "a", '{"url": "nats://h", "x_unknown": 1}')
    cli("context add b --context a --js-domain leaf", status=0)
    assert (stored(cli, "b")["url"], stored(cli, "b")["x_unknown"]) == ("nats://h", 1)
    assert stored(cli, "b")["jetstream_domain"] == "leaf"


def test_add_keeps_paths_useful_from_everywhere(cli: Cli) -> None:
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


# -- questions ------------------------------------------------------------------------------------


def test_add_asks(cli: Cli) -> None:
    outcome = cli("context add a", answers=["nats://h:1", "user", "bob", SECRET, "hub", "The hub"], status=0)
    assert outcome.asked == [
        "Server URLs", "Login", "Username", "Password", "JetStream domain", "Description",
    ]  # fmt: skip
    assert stored(cli, "a") == KEYS | {
        "url": "nats://h:1", "user": "bob", "password": SECRET, "jetstream_domain": "hub",
        "description": "The hub",
    }  # fmt: skip
    assert SECRET not in outcome.out


@pytest.mark.parametrize(
    ("flags", "answers", "asked"),
    [
        ("-s nats://h:1 --creds /x", [], []),
        ("-s nats://u:p@h:1", [], []),
        ("--nsc nsc://o/a/u", [], []),
        ("--defaults", [], []),
        ("-s nats://h:1", ["", "", "x"], ["Login", "JetStream domain", "Description"]),
        ("--token t --js-domain d --description x", ["nats://h:1"], ["Server URLs"]),
        (
            "-s tls://h --description x --js-domain ''",
            ["creds", "/u.creds", "/ca.pem"],
            ["Login", "Credentials file", "CA certificate file"],
        ),
        ("-s nats://h --description x --js-domain d", ["jwt", "j", "s"], ["Login", "User JWT", "User seed"]),
        ("-s nats://h --description x --js-domain d", ["token", "t"], ["Login", "Token"]),
    ],
)
def test_add_asks_only_what_flags_left_out(
    cli: Cli, flags: str, answers: list[str], asked: list[str]
) -> None:
    assert cli(f"context add a {flags}", answers=answers, status=0).asked == asked


def test_add_on_a_known_context_asks_only_without_flags(cli: Cli) -> None:
    write(cli, "a", json.dumps({"url": "nats://h", "user": "u", "password": SECRET, "description": "D"}))
    assert cli("context add a --js-domain x", answers=[], status=0).asked == []
    # Every default keeps what is there; an empty secret stays.
    outcome = cli("context add a", answers=[...] * 6, status=0)
    assert len(outcome.asked) == 6
    assert stored(cli, "a") == KEYS | {
        "url": "nats://h", "user": "u", "password": SECRET, "description": "D", "jetstream_domain": "x",
    }  # fmt: skip


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
        child.expect(pexpect.EOF)
        assert child.before and SECRET not in child.before
    finally:
        child.close(force=True)
    assert (stored(cli, "hub")["user"], stored(cli, "hub")["password"]) == ("acc", SECRET)
    assert stored(cli, "hub")["url"] == "nats://127.0.0.1:4222"


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


# -- the others -----------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["copy", "cp"])
def test_copy(cli: Cli, verb: str) -> None:
    write(cli, "a", '{"url": "nats://h", "description": "A", "x_unknown": 1}')
    cli(f"context {verb} a b --js-domain leaf --description B --select", status=0)
    assert stored(cli, "b") == KEYS | {
        "url": "nats://h", "description": "B", "jetstream_domain": "leaf", "x_unknown": 1,
    }  # fmt: skip
    assert (cli.home / "nats" / "context.txt").read_text() == "b"
    assert "exists already" in cli("context cp a b", status=ExitStatus.USAGE).err
    cli("context cp nope c", status=ExitStatus.NOT_FOUND)


def test_ls(cli: Cli) -> None:
    assert cli("context ls", status=0).out == "No known contexts\n"
    assert cli("context ls --json", status=0).json == []
    cli("context add b:1 --description 'second \x1b[31m'", status=0)
    cli(f"context add a -s nats://u:{SECRET}@h --token {SECRET} --description first --select", status=0)
    table = cli("context ls", tty=True, environ={"NO_COLOR": "1"}, status=0).out
    assert "Known Contexts" in table and "│ a*   │ first" in table and "│ b:1  │ second \\x1b[31m" in table
    assert cli("context list --names", status=0).out == "a\nb:1\n"
    assert cli("context l --completion", status=0).out == "a*:first\nb\\:1:second \\x1b[31m\n"
    listed = cli("context ls --json", status=0)
    assert SECRET not in listed.out
    assert [(c["name"], c["selected"]) for c in listed.json] == [("a", True), ("b:1", False)]
    assert SECRET in cli("context ls --json --show-secrets", status=0).out


def test_ls_survives_broken_contexts(cli: Cli) -> None:
    cli("context add a --select", status=0)
    write(cli, "broken", "{")
    (cli.home / "nats" / "context.txt").write_text("gone")
    for tty in (True, False):
        outcome = cli("context ls", tty=tty, status=0)
        assert "a" in outcome.out
        assert "broken.json cannot be used: line 1" in outcome.err
    assert "the selected context 'gone' does not exist" in cli("stream ls", status=ExitStatus.NOT_FOUND).err


def test_select_and_previous(cli: Cli) -> None:
    for name in ("a", "b"):
        cli(f"context add {name}", status=0)
    assert "was selected before" in cli("context previous", status=ExitStatus.NOT_FOUND).err
    for line, expected in (
        ("select a", "a"), ("switch b", "b"), ("previous", "a"), ("-", "b"), ("set b", "b"), ("-", "a"),
    ):  # fmt: skip
        cli(f"context {line}", status=0)
        assert (cli.home / "nats" / "context.txt").read_text() == expected, line
    assert cli("context unselect", status=0).out == 'Unselected the "a" context\n'
    assert cli("context unselect", status=0).out == "No context currently selected\n"
    cli("context previous", status=0)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"
    cli("context select nope", status=ExitStatus.NOT_FOUND)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"


def test_select_from_a_list(cli: Cli) -> None:
    assert "no context is defined" in cli("context select", answers=[], status=ExitStatus.NOT_FOUND).err
    for name in ("a", "b"):
        cli(f"context add {name}", status=0)
    assert cli("context select", answers=["b"], status=0).asked == ["Select a Context"]
    assert (cli.home / "nats" / "context.txt").read_text() == "b"
    assert "give NAME" in cli("context select", status=ExitStatus.USAGE).err
    child = cli.terminal("context select")
    try:
        child.expect("Select a Context")
        child.send("\x1b[A\r")
        child.expect('Context "a"')
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    assert (cli.home / "nats" / "context.txt").read_text() == "a"


def test_rm(cli: Cli) -> None:
    for name in ("a", "b", "c"):
        cli(f"context add {name}", status=0)
    cli("context select a", status=0)
    assert "is the selected one" in cli("context rm a", answers=[True], status=ExitStatus.FAILURE).err
    assert "give --force" in cli("context rm b", status=ExitStatus.USAGE).err
    cli("context rm b", answers=[False], status=ExitStatus.FAILURE)
    assert cli("context ls --names").out == "a\nb\nc\n"
    cli("context rm b", answers=[True], status=0)
    cli("context rm nope --force", status=ExitStatus.NOT_FOUND)
    cli("context remove c -f", status=0)
    # The only one may go, though it is selected.
    cli("context rm a", answers=[True], status=0)
    assert not (cli.home / "nats" / "context.txt").exists()
    assert cli("context ls --names").out == ""


@pytest.mark.parametrize("verb", ["info", "show", "v", "view"])
def test_info_hides_secrets(cli: Cli, verb: str) -> None:
    write(
        cli,
        "a",
        json.dumps(
            {"url": f"nats://bob:{SECRET}@h", "password": SECRET, "token": SECRET, "user_jwt": SECRET,
             "user_seed": SECRET, "creds": __file__, "ca": "/nope", "x_password": SECRET, "x_other": "seen"}
        ),
    )  # fmt: skip
    cli("context select a", status=0)
    for line in (
        f"context {verb}",
        f"context {verb} a",
        f"context {verb} --json",
    ):
        for tty in (False, True):
            assert SECRET not in cli(line, tty=tty, status=0).out
    sheet = cli(f"context {verb}", status=0).out
    assert "Server URLs: nats://bob:********@h" in sheet
    assert f"Credentials: {__file__} (OK)" in sheet and "CA: /nope (ERROR)" in sheet and "seen" in sheet
    assert cli(f"context {verb} --show-secrets", status=0).out.count(SECRET) == 6
    shown = cli(f"context {verb} a --json --show-secrets", status=0).json
    assert (shown["name"], shown["password"], shown["x_other"]) == ("a", SECRET, "seen")


def test_info_says_what_the_environment_sets(cli: Cli) -> None:
    cli("context add a", status=0)
    assert cli("context info a", status=0).err == ""
    said = cli("context info a", environ={"NATS_URL": "nats://x", "NATS_USER": "u"}, status=0).err
    assert "--server, --user" in said


def test_connect(cli: Cli, url: str) -> None:
    cli(f"context add good -s {url}", status=0)
    cli(f"context add bad -s {url.replace(':t', ':wrong')}", status=0)
    cli("context add away -s nats://127.0.0.1:1", status=0)
    assert "Connection: OK" in cli("context info good --connect", status=0).out
    assert "authorization violation" in cli("context info bad --connect", status=ExitStatus.DENIED).out
    assert cli("context info away --connect --json", status=ExitStatus.UNREACHABLE).json["connection"]
    # The environment takes no part in it.
    cli("context info good --connect", environ={"NATS_URL": "nats://127.0.0.1:1"}, status=0)
    assert cli("context validate", status=0).out.count("OK") == 3
    outcome = cli("context validate --connect --json", status=ExitStatus.UNREACHABLE)
    assert [(c["name"], c["connection"] == "OK") for c in outcome.json] == [
        ("away", False), ("bad", False), ("good", True),
    ]  # fmt: skip
    cli("context validate good --connect", status=0)
    cli("context validate nope", status=ExitStatus.NOT_FOUND)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ('{"url": 3}', "'url' must be text"),
        ('{"creds": "/nope"}', "does not exist"),
        ('{"user": "u", "nkey": "/n"}', "more than one login"),
        ('{"cert": "/c"}', "needs both"),
        (
            '{"jetstream_domain": "a", "jetstream_api_prefix": "b"}',
            "both a JetStream domain and an API prefix",
        ),
        ('{"color_scheme": "pink"}', "unknown colour scheme"),
        ('{"url": "ftp://x"}', "no server address"),
        ('{"nsc": "nsc://o/a/u"}', "needs the nsc tool"),
    ],
)
def test_validate_finds(cli: Cli, raw: str, problem: str) -> None:
    cli("context add good", status=0)
    write(cli, "bad", raw)
    outcome = cli("context validate", environ={"PATH": ""}, status=ExitStatus.FAILURE)
    assert problem in outcome.out
    assert cli("context validate good", status=0)


def test_nsc(cli: Cli, url: str, tmp_path: Path) -> None:
    """The nsc tool is not at hand: a script answers as `nsc generate profile` does."""
    tool = tmp_path / "bin" / "nsc"
    tool.parent.mkdir()
    profile = json.dumps({"user_creds": "", "operator": {"service": [url]}})
    tool.write_text(f"#!/bin/sh\n[ \"$1 $2 $3\" = 'generate profile nsc://o/a/u' ] && echo '{profile}'\n")
    tool.chmod(0o755)
    path = {"PATH": f"{tool.parent}:{os.environ['PATH']}"}
    cli("context add n --nsc nsc://o/a/u", status=0)
    assert stored(cli, "n")["url"] == ""
    assert cli("stream ls --context n", environ=path, status=0).out == "No Streams defined\n"
    cli("context add m --nsc nsc://o/a/other", status=0)
    assert "nsc failed" in cli("stream ls --context m", environ=path, status=ExitStatus.USAGE).err


def test_a_context_by_path(cli: Cli, url: str, tmp_path: Path) -> None:
    file = tmp_path / "here.json"
    file.write_text(json.dumps({"url": url}))
    assert cli(f"stream ls --context {file}", status=0).out == "No Streams defined\n"
    assert cli("stream ls", environ={"NATS_CONTEXT": str(file)}, status=0).out == "No Streams defined\n"


# -- edit -----------------------------------------------------------------------------------------


def editor(tmp_path: Path, code: str) -> dict[str, str]:
    """An EDITOR that runs `code` over `text` and `path`."""
    script = tmp_path / "an editor.py"
    script.write_text(
        f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text()\n{code}\n"
    )
    return {"EDITOR": f"'{sys.executable}' '{script}'", "TMPDIR": str(tmp_path)}


@pytest.mark.parametrize("verb", ["edit", "vi"])
def test_edit(cli: Cli, tmp_path: Path, verb: str) -> None:
    write(cli, "a", '{"url": "nats://h", "x_unknown": 1}')
    code = (
        "assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700\n"
        "path.write_text(text.replace('nats://h', 'nats://new'))"
    )
    cli(f"context {verb} a", environ=editor(tmp_path, code), status=0)
    assert stored(cli, "a") == KEYS | {"url": "nats://new", "x_unknown": 1}
    cli("context edit nope", status=ExitStatus.NOT_FOUND)
    assert (
        "set EDITOR"
        in cli("context edit a", environ={"EDITOR": "", "VISUAL": ""}, status=ExitStatus.USAGE).err
    )


def test_edit_keeps_a_broken_text(cli: Cli, tmp_path: Path) -> None:
    write(cli, "a", '{"url": "nats://h"}')
    outcome = cli(
        "context edit a",
        environ=editor(tmp_path, "path.write_text(text.replace('nats://h\"', 'nats://new'))"),
        status=ExitStatus.USAGE,
    )
    assert "line 3, column" in outcome.err and outcome.err.count("\n") == 1
    assert stored(cli, "a") == {"url": "nats://h"}
    kept = Path(outcome.err.rsplit("your text is in ", 1)[1].strip())
    assert "nats://new" in kept.read_text()
    kept.unlink()
    kept.parent.rmdir()


def test_edit_again_after_a_mistake(cli: Cli, tmp_path: Path) -> None:
    write(cli, "a", '{"url": "nats://h"}')
    code = (
        "broken, mended = text.replace('}', ']'), text.replace(']', '}').replace('//h', '//i')\n"
        "path.write_text(broken if '}' in text else mended)"
    )
    outcome = cli("context edit a", environ=editor(tmp_path, code), answers=[True], status=0)
    assert len(outcome.asked) == 1
    assert stored(cli, "a")["url"] == "nats://i"


def test_edit_without_a_change(cli: Cli, tmp_path: Path) -> None:
    write(cli, "a", '{"url": "nats://h"}')
    assert "was not changed" in cli("context edit a", environ=editor(tmp_path, ""), status=0).err
    cli("context edit a", environ=editor(tmp_path, "sys.exit(3)"), status=ExitStatus.FAILURE)
    cli("context edit a", environ={"EDITOR": "/nope/ed"}, status=ExitStatus.FAILURE)
    assert stored(cli, "a") == {"url": "nats://h"}


def test_edit_repairs_a_broken_file(cli: Cli, tmp_path: Path) -> None:
    write(cli, "a", "{broken")
    cli("context edit a", environ=editor(tmp_path, "path.write_text('{}')"), status=0)
    assert stored(cli, "a") == KEYS


# -- domains --------------------------------------------------------------------------------------


def domain(cli: Cli, line: str) -> str:
    """The API prefix that a line asked, and got an answer on."""
    outcome = cli(f"stream ls --trace {line}", status=0)
    return outcome.err.split(".STREAM.")[0].removeprefix(">>> ")


def test_domains_of_the_guide(cli: Cli, shared_hub_leaf: HubLeaf) -> None:
    cli(f"context add hub -s {shared_hub_leaf.url} --select", status=0)
    cli("context cp hub leaf --js-domain leaf", status=0)
    cli("context cp hub prefix --js-api-prefix $JS.leaf.API", status=0)
    assert domain(cli, "") == "$JS.API"
    assert domain(cli, "--js-domain leaf") == "$JS.leaf.API"
    assert domain(cli, "--context leaf") == "$JS.leaf.API"
    assert domain(cli, "--context leaf --js-domain hub") == "$JS.hub.API"
    assert domain(cli, "--context leaf --js-domain ''") == "$JS.API"
    assert domain(cli, "--context leaf --js-api-prefix ''") == "$JS.API"
    assert domain(cli, "--context leaf --js-api-prefix $JS.hub.API") == "$JS.hub.API"
    assert domain(cli, "--context prefix") == "$JS.leaf.API"
    assert domain(cli, "--context prefix --js-domain ''") == "$JS.API"
    cli("stream ls --js-domain leaf --js-api-prefix x", status=ExitStatus.USAGE)
    outcome = cli("stream ls --js-domain nope", status=ExitStatus.UNREACHABLE)
    assert "no JetStream answers on $JS.nope.API" in outcome.err
    file = cli.home / "nats" / "context" / "leaf.json"
    file.write_text(json.dumps(stored(cli, "leaf") | {"jetstream_api_prefix": "x"}))
    assert "has both" in cli("stream ls --context leaf", status=ExitStatus.USAGE).err


def test_dotted_domain(cli: Cli, tmp_path: Path) -> None:
    """No server has such a domain of its own; an account that imports another's JetStream gives it one."""
    server = RealServer(
        tmp_path / "server",
        """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts {
  A: { jetstream: enabled, users: [{user: a, password: a}], exports: [{service: "$JS.API.>"}] }
  B: { users: [{user: b, password: b}],
       imports: [{service: {account: A, subject: "$JS.API.>"}, to: "$JS.leafacc.spoke-1.API.>"}] }
}
""",
    ).start()
    try:
        cli(f"context add b -s {server.url_for('b')} --select", status=0)
        cli("context cp b dotted --js-domain leafacc.spoke-1", status=0)
        assert domain(cli, "--js-domain leafacc.spoke-1") == "$JS.leafacc.spoke-1.API"
        assert domain(cli, "--context dotted") == "$JS.leafacc.spoke-1.API"
        cli("stream ls", status=ExitStatus.UNREACHABLE)  # B has no JetStream of its own
    finally:
        server.stop()
