"""`shell`: scripts, and a prompt in a pseudo-terminal, on a real server."""

import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from jsctl.commands.shell_prompt.command_line import (
    is_complete,
    parse_line,
    split_last_word,
    split_list,
    split_script,
)
from jsctl.errors import BadInput
from jsctl.nats.connection import Connection
from tests.support import js
from tests.support.hostile import hostile_server
from tests.support.run import Cli, Terminal
from tests.support.servers import RealServer


def script(cli: Cli, tmp_path: Path, text: str, status: int = 0) -> tuple[str, str]:
    file = tmp_path / "lines.jsctl"
    file.write_text(text)
    outcome = cli(f"shell --file {file}", status=status)
    return outcome.out, outcome.err


# -- lines --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words", "pipe"),
    [
        ("stream ls", ["stream", "ls"], ""),
        ("jsctl stream ls", ["stream", "ls"], ""),
        ("sub 'orders.>' | grep 'a|b'", ["sub", "orders.>"], "grep 'a|b'"),
        ("""pub a 'x | y' "z | \\" |" """, ["pub", "a", "x | y", 'z | " |'], ""),
        ("pub a\\|b", ["pub", "a|b"], ""),
        ("pub a one\\\n two", ["pub", "a", "one", "two"], ""),
        ("pub a 'one\ntwo'", ["pub", "a", "one\ntwo"], ""),
        ("kv get K a > 'the file'", ["kv", "get", "K", "a"], "cat > 'the file'"),
        ("stream ls >>list ", ["stream", "ls"], "cat >>list "),
        ("sub >", ["sub", ">"], ""),
        ("sub > --raw", ["sub", ">", "--raw"], ""),
        ("kv get K '>' \\>", ["kv", "get", "K", ">", ">"], ""),
        ("sub orders.>", ["sub", "orders.>"], ""),
    ],
)
def test_a_line_is_taken_apart(text: str, words: list[str], pipe: str) -> None:
    assert parse_line(text) == (words, pipe)
    assert is_complete(text)


@pytest.mark.parametrize("text", ["pub a 'x", 'pub a "x', "stream ls \\"])
def test_a_line_continues(text: str) -> None:
    assert not is_complete(text)
    with pytest.raises(BadInput):
        parse_line(text)


@pytest.mark.parametrize("text", ["kv del K > a --force", "stream ls > a | cat", "kv get K > a > b"])
def test_a_file_ends_a_line(text: str) -> None:
    with pytest.raises(BadInput, match="does not end after > and a file"):
        parse_line(text)


def test_rows_of_a_script() -> None:
    text = "# it's a comment\nstream ls\npub a \\\n  'b\nc'\nlast 'open\n"
    assert list(split_script(text)) == [
        (1, "# it's a comment"),
        (2, "stream ls"),
        (3, "pub a \\\n  'b\nc'"),
        (6, "last 'open"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ([], "", 0)),
        ("str", ([], "str", 0)),
        ("stream ", (["stream"], "", 7)),
        ("stream info 'OR", (["stream", "info"], "OR", 12)),
        ("jsctl stream info OR", (["stream", "info"], "OR", 18)),
        ("stream ls | gr", ([], "", -1)),
        ("stream ls && con", ([], "con", 13)),
        ("stream ls; stream info OR", (["stream", "info"], "OR", 23)),
    ],
)
def test_what_is_to_be_completed(text: str, expected: tuple[list[str], str, int]) -> None:
    assert split_last_word(text) == expected


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("stream ls", [("", "stream ls")]),
        ("a && b || c; d", [("", "a "), ("&&", " b "), ("||", " c"), (";", " d")]),
        ("a;", [("", "a")]),
        ("pub a 'x && y; z' \\; \"||\"", [("", "pub a 'x && y; z' \\; \"||\"")]),
        ("pub a nats://h?x=1&y=2", [("", "pub a nats://h?x=1&y=2")]),
        ("a | wc -l && b", [("", "a | wc -l "), ("&&", " b")]),
        ("a | while read x; do echo $x; done", [("", "a | while read x; do echo $x; done")]),
        ("! ls; ls && x", [("", "! ls; ls && x")]),
        ("a && ! ls; ls", [("", "a "), ("&&", " ! ls; ls")]),
    ],
)
def test_commands_of_a_line(text: str, commands: list[tuple[str, str]]) -> None:
    assert split_list(text) == commands


@pytest.mark.parametrize("text", ["a &&", "a ||", "&& a", "; a", "a ;; b", "a && && b"])
def test_an_operator_needs_commands(text: str) -> None:
    with pytest.raises(BadInput, match=r"nothing follows|no command is before"):
        split_list(text)


@pytest.mark.parametrize(
    "text",
    ["stream ls 2>&1", "stream ls 2> e", "pub a < f", "pub a <<< x", "ls &> f", "sub a &", "ls >&2", "a 0<f"],
)
def test_redirections_of_a_shell_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="this shell does not have"):
        parse_line(text)
    assert len(parse_line(f"pub a '{text}'").words) == 3


def test_commands_that_are_joined(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "s.>")
    text = (
        "stream ls --names && version; stream info NOPE || stream ls --names\nstream info NOPE && version\n"
    )
    out, err = script(cli, tmp_path, text, status=3)
    assert out.count("S\n") == 2 and out.count("Runs with") == 1 and err.count("not found") == 2
    assert script(cli, tmp_path, "stream info NOPE; version")[0].startswith("jsctl ")
    assert script(cli, tmp_path, "exit 5 && version", status=5)[0] == ""
    assert script(cli, tmp_path, "stream ls --names | tr S T && stream ls --names || version")[0] == "T\nS\n"
    assert "does not have" in script(cli, tmp_path, "stream ls 2>&1", status=64)[1]
    assert script(cli, tmp_path, "history") == ("", "")


# -- scripts ------------------------------------------------------------------------------------------


def test_a_script(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    out, err = script(
        cli,
        tmp_path,
        "# comment\n\nstream ls --names\njsctl pub orders.new 'two\nrows'\n"
        "stream get ORDERS 1 | tr a-z A-Z\nstream ls --names | sort -r | head -1\n",
    )
    assert out.startswith("ORDERS\n") and "TWO\nROWS" in out and out.endswith("ORDERS\n")
    assert "Published 8 bytes" in err


def test_it_stops_at_the_first_failure(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    out, err = script(cli, tmp_path, "stream ls\nstream info NOPE\npub never x\n", status=3)
    assert "line 2 of" in err and "ended with status 3; the rest was not run" in err
    assert "Published" not in out + err
    assert script(cli, tmp_path, "stream ls --names | false\n", status=1)
    file = tmp_path / "a list"
    assert script(cli, tmp_path, f"stream ls --names > '{file}'\nstream ls --names >>'{file}'") == ("", "")
    assert file.read_text() == "ORDERS\n" * 2
    assert "nothing follows the |" in script(cli, tmp_path, "stream ls |", status=64)[1]
    assert "the line is incomplete" in script(cli, tmp_path, "pub 'x", status=64)[1]
    assert "no command 'strem'" in script(cli, tmp_path, "strem ls", status=64)[1]
    assert script(cli, tmp_path, "exit 7\nstream info NOPE", status=7)[1] == ""
    assert "already a jsctl shell" in script(cli, tmp_path, "shell", status=64)[1]
    assert cli("shell --file /nope", status=64).err.count("\n") == 1


def test_a_script_on_stdin_is_not_read_by_its_commands(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    outcome = cli("shell", stdin="pub s --force-stdin\nstream ls --names\n! exit 3\nversion\n", status=3)
    assert outcome.out == "S\n"
    assert js.info(url, "S")["state"]["bytes"] < 50


def test_use_and_domain(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "HERE", "here")
    cli(f"context add a --server {url}", status=0)
    cli("context add b --server nats://127.0.0.1:1", status=0)
    del cli.environ["NATS_URL"]
    out, _ = script(cli, tmp_path, "use a\nstream ls --names\nuse b\nuse a\nstream ls --names")
    assert out == "HERE\nHERE\n"
    assert "127.0.0.1:1" in script(cli, tmp_path, "use b\nstream ls", status=4)[1]
    assert "'c'" in script(cli, tmp_path, "use c", status=3)[1]
    assert "leaf" in script(cli, tmp_path, "use a\ndomain leaf\nstream ls", status=4)[1]
    assert script(cli, tmp_path, "use a\ndomain leaf\ndomain\nstream ls --names")[0] == "HERE\n"


def test_a_context_has_one_connection(
    cli: Cli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = Connection.open

    async def count(*args: object, **options: object) -> Connection:
        opened.append("")
        return await real(*args, **options)  # type: ignore[arg-type]

    js.stream(url, "S", "s")
    monkeypatch.setattr(Connection, "open", count)
    script(cli, tmp_path, "stream ls\nstream info S\npub s x --timeout 3s\nsub --stream S --all --count 1\n")
    assert len(opened) == 1


# -- the prompt ---------------------------------------------------------------------------------------


@pytest.fixture
def prompt(cli: Cli, url: str) -> Iterator[Terminal]:
    """A shell that waits for a line."""
    js.stream(url, "ORDERS", "orders.>")
    cli(f"context add shop --server {url} --select", status=0)
    del cli.environ["NATS_URL"]
    terminal = cli.terminal("shell")
    terminal.expect("ctrl-D ends it")
    terminal.expect("shop")
    try:
        yield terminal
    finally:
        terminal.close(force=True)


@pytest.mark.slow
def test_completion_history_and_ctrl_c(prompt: Terminal, cli: Cli) -> None:
    prompt.send("stream info OR")
    while prompt.expect(["ORDERS", pexpect.TIMEOUT], timeout=3):  # in the menu
        prompt.send("\x7fR")  # a server that answers too late for completion is asked with the next key
    prompt.send("\t")
    prompt.expect("(?<!OR)DERS")
    prompt.send("--json\r")  # a space follows what was completed, as in other shells
    prompt.expect_exact('"first_seq"')
    prompt.expect("shop")
    prompt.send("sub 'orders.>'\r")
    prompt.expect("Subscribing on orders")
    prompt.sendintr()
    prompt.expect("shop")
    prompt.send("stream info NOPE\r")
    prompt.expect("stream NOPE not found")
    prompt.expect_exact("[3]")
    prompt.send("rtt --password hunter2\r")
    prompt.expect("shop")
    prompt.send("pub orders.a 'one\r")
    prompt.expect_exact("...")
    prompt.send("two'\r")
    prompt.expect("Published 7 bytes")
    prompt.expect("shop")
    prompt.send("\x1b[200~stream info NOPE\nrtt\n\x1b[201~\r")  # pasted: it ends at what fails
    prompt.expect("stream NOPE not found")
    prompt.expect("shop")
    prompt.send("exit 5\r")
    prompt.expect(pexpect.EOF)
    prompt.close()
    assert prompt.exitstatus == 5
    history = cli.home / ".local" / "state" / "jsctl" / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert "stream info NOPE" in history.read_text() and "hunter2" not in history.read_text()


@pytest.mark.slow
def test_a_server_that_was_lost(cli: Cli, tmp_path: Path) -> None:
    server = RealServer(tmp_path, 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n').start()
    try:
        js.stream(server.url, "ORDERS", "orders.>")
        cli.environ["NATS_URL"] = server.url
        terminal = cli.terminal("shell")
        terminal.expect(">")
        terminal.send("stream ls --names\r")
        terminal.expect("ORDERS\r")
        server.kill()
        terminal.send("stream ls --names\r")
        terminal.expect_exact("[4]")
        server.start()
        terminal.send("stream ls --names\r")
        terminal.expect("ORDERS\r")
        terminal.expect(">")
        terminal.sendeof()
        terminal.expect(pexpect.EOF)
        terminal.close()
        assert terminal.exitstatus == 0
    finally:
        server.stop()


@pytest.mark.slow
def test_ctrl_c_right_after_a_line(cli: Cli) -> None:
    """At every millisecond: while the prompt still has the terminal, between both, and in the command."""
    with hostile_server() as mute:
        cli.environ["NATS_URL"] = mute
        terminal = cli.terminal("shell")
        terminal.delaybeforesend = None
        terminal.expect("ctrl-D ends it")
        try:
            for after in range(12):
                terminal.send(f"! echo {after}''-ready\r")
                terminal.expect(f"{after}-ready\r")
                terminal.expect(">")
                terminal.send("stream ls --timeout 60s\r" + "\x03" * (after == 0))
                if after:
                    time.sleep(after / 500)  # at several moments of the start of a request
                    terminal.send("\x03")
                terminal.expect_exact("[130]", timeout=10)
        finally:
            terminal.close(force=True)
