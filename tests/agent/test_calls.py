"""A call within an agent does what it does without: real processes, signals, files and terminals."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from jsctl.agent.client import send_request
from tests.support.agents import JSCTL, running_agent
from tests.support.processes import alive
from tests.support.waiting import wait_for


@pytest.fixture(scope="module")
def agent() -> Iterator[str]:
    """The socket of an agent that runs meanwhile."""
    with running_agent() as path:
        yield path


@pytest.fixture(params=["without", "within"])
def environ(request: pytest.FixtureRequest, agent: str, tmp_path: Path) -> dict[str, str]:
    """The environment of a call without an agent, and of one within it."""
    base = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    return {**base, "JSCTL_AGENT": agent} if request.param == "within" else base


def call(environ: dict[str, str], *words: str, **options: object) -> subprocess.CompletedProcess[str]:
    given = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, **options}
    return subprocess.run([*JSCTL, *words], env=environ, check=False, **given)  # type: ignore[call-overload,no-any-return]


def test_an_agent_serves(agent: str) -> None:
    """What a call does not import shows that it is served: nothing but the client."""
    names = list_imports({**os.environ, "JSCTL_AGENT": agent})
    assert "jsctl.agent.client" in names
    allowed = {"jsctl", "jsctl.__main__", "jsctl.agent", "jsctl.agent.client", "_socket", "gc"}
    assert names <= allowed


_TRACED = """
import sys
before = set(sys.modules)
import os
real = os._exit
def end(status):
    sys.stderr.write(" ".join(set(sys.modules) - before))
    sys.stderr.flush()
    real(status)
os._exit = end
sys.argv = ["jsctl", "version"]
from jsctl.__main__ import main
main()
"""


def list_imports(environ: dict[str, str], *wrapper: str) -> set[str]:
    """Return the modules that a call of `jsctl version` imports. The wrapper is what runs it."""
    words = [*wrapper, sys.executable, "-c", _TRACED]
    shown = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    assert shown.stdout.startswith("jsctl "), shown
    return set(shown.stderr.split())


def test_a_call_that_ends_before_its_client_goes_on_runs_once() -> None:
    """Once the request is sent, nothing is written any more: a connection that is closed by then would look
    as if nobody served the call."""
    client, agent = socket.socketpair()

    class Slow(socket.socket):
        def sendmsg(self, *args: Any) -> int:
            sent = super().sendmsg(*args)
            assert agent.recv(1 << 16)
            agent.close()
            return sent

    with Slow(fileno=client.detach()) as slow:
        send_request(slow, b"request", [0])


def test_output_and_status(environ: dict[str, str]) -> None:
    shown = call(environ, "version")
    assert shown.returncode == 0 and shown.stdout.startswith("jsctl ") and not shown.stderr
    refused = call(environ, "nope")
    assert refused.returncode == 64 and not refused.stdout and "no command 'nope'" in refused.stderr
    away = call(environ, "stream", "ls", "--server", "nats://127.0.0.1:1")
    assert away.returncode == 4


def test_files_and_folders(environ: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "s.yaml").write_text("name: S\nsubjects: [s]\n")
    words = ["stream", "add", "--config", "s.yaml", "--output", "out.json", "--defaults"]
    assert call(environ, *words, cwd=folder, umask=0o077).returncode == 0
    assert '"S"' in (folder / "out.json").read_text()
    piped = call(
        environ,
        "stream",
        "add",
        "--config",
        "-",
        "--output",
        "-",
        "--defaults",
        stdin=None,
        input="name: T\nsubjects: [t]\n",
    )
    assert '"T"' in piped.stdout, piped


def test_a_folder_that_is_gone(environ: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    line = f"cd '{folder}' && rmdir '{folder}' && exec {sys.executable} -P -m jsctl version"
    shown = subprocess.run(["sh", "-c", line], env=environ, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown


def test_inherited_files(environ: dict[str, str]) -> None:
    line = 'exec 7<<END\nname: S\nsubjects: [s]\nEND\nexec "$@" --config /dev/fd/7'
    words = [*JSCTL, "stream", "add", "--output", "-", "--defaults"]
    shown = subprocess.run(
        ["sh", "-c", line, "sh", *words], env=environ, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0 and '"S"' in shown.stdout, shown


def test_closed_files(environ: dict[str, str]) -> None:
    for closed in ("<&-", ">&-", "2>&-"):
        line = f'exec "$@" version {closed}'
        assert (
            subprocess.run(
                ["sh", "-c", line, "sh", *JSCTL], env=environ, stdout=subprocess.DEVNULL, check=False
            ).returncode
            == 0
        )


def test_a_reader_that_stops(environ: dict[str, str]) -> None:
    line = f"{' '.join(JSCTL)} manual streams | head -1"
    shown = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], env=environ, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0 and not shown.stderr, shown


@pytest.fixture
def both(agent: str, tmp_path: Path, url: str) -> tuple[dict[str, str], dict[str, str]]:
    """The environments of calls without an agent, and within one, with the address of a server."""
    without = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path), "NATS_URL": url}
    return without, {**without, "JSCTL_AGENT": agent}


def without_times(text: str) -> str:
    return re.sub(r"[0-9.]+m?s\b", "TIME", text)


def start(environ: dict[str, str], *words: str, wrapper: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start a call that runs without end, and wait until it does."""
    process = subprocess.Popen(
        [*wrapper, *JSCTL, *words], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    assert "ubscrib" in process.stderr.readline()
    return process


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGKILL"])
def test_signals(both: tuple[dict[str, str], dict[str, str]], name: str) -> None:
    ended = []
    for environ in both:
        process = start(environ, "sub", "a.>")
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=20)
        ended.append((process.returncode, out, without_times(err)))
    assert ended[0] == ended[1]


@pytest.mark.slow
def test_an_ignored_signal_stays_ignored(both: tuple[dict[str, str], dict[str, str]]) -> None:
    for environ in both:
        process = start(environ, "sub", "a.>", wrapper=("sh", "-c", 'trap "" HUP; exec "$@"', "sh"))
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGUSR1)
        process.communicate(timeout=20)
        assert process.returncode == -signal.SIGUSR1


@pytest.mark.slow
def test_a_verb_handles_a_signal_that_was_ignored(both: tuple[dict[str, str], dict[str, str]]) -> None:
    """A shell without job control has what it starts in the background ignore SIGINT."""
    ended = []
    for environ in both:
        process = start(environ, "sub", "a.>", wrapper=("sh", "-c", 'trap "" INT; exec "$@"', "sh"))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        ended.append(process.returncode)
    assert ended[0] == ended[1]


@pytest.mark.slow
def test_timeout_ends_a_call(both: tuple[dict[str, str], dict[str, str]]) -> None:
    ended = []
    for environ in both:
        words = ["timeout", "2", *JSCTL, "sub", "a.>"]
        ended.append(subprocess.run(words, env=environ, capture_output=True, text=True, check=False))
    assert ended[0].returncode == ended[1].returncode == 124
    # On a busy machine it may end before there is a sum to show.
    first_lines = [call.stderr.partition("\n")[0] for call in ended]
    assert first_lines[0] == first_lines[1] and ended[0].stdout == ended[1].stdout


@pytest.mark.slow
def test_a_client_that_is_killed_leaves_no_worker(
    both: tuple[dict[str, str], dict[str, str]], tmp_path: Path
) -> None:
    file = tmp_path / "worker"
    process = start(both[1], "sub", "a.>", "--translate", f"sh -c 'echo $PPID > {file}; cat'")
    subprocess.run([*JSCTL, "pub", "a.b", "x"], env=both[0], check=True, capture_output=True)
    wait_for(lambda: file.exists() and file.read_text().strip(), "the translation runs")
    process.kill()
    worker = int(file.read_text())
    wait_for(lambda: not alive(worker), "the worker has ended")


@pytest.mark.slow
def test_limits_and_priority(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "s.sh"
    file.write_text(f"ulimit -n 123\nexec nice -n 3 {' '.join(JSCTL)} sub a.b --server nats://127.0.0.1:1\n")
    words = ["sh", str(file)]
    assert subprocess.run(words, env=environ, capture_output=True, check=False).returncode == 4


def in_terminal(environ: dict[str, str], *words: str) -> pexpect.spawn:  # type: ignore[type-arg]
    variables = {**environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
    return pexpect.spawn(
        JSCTL[0], [*JSCTL[1:], *words], env=variables, dimensions=(24, 80), encoding="utf-8", timeout=20
    )


@pytest.mark.slow
def test_questions(environ: dict[str, str]) -> None:
    screen = in_terminal(environ, "context", "add")
    screen.expect("Context name")
    screen.sendline("new")
    screen.expect("nats://")  # the question is shown, and reads keys
    screen.sendcontrol("c")
    screen.expect(pexpect.EOF)
    assert screen.wait() == 130


@pytest.mark.slow
def test_a_screen(environ: dict[str, str], url: str) -> None:
    screen = in_terminal({**environ, "NATS_URL": url}, "report", "--watch")
    screen.expect("Streams")
    screen.setwinsize(30, 100)
    screen.send("?")
    screen.expect("quit")
    screen.send("q")
    screen.send("q")
    screen.expect(pexpect.EOF)
    assert screen.wait() == 0


@pytest.mark.slow
def test_ctrl_z_and_fg(environ: dict[str, str], url: str) -> None:
    """In a shell with job control."""
    shell = pexpect.spawn(
        "bash",
        ["--norc", "-i"],
        env={**environ, "NATS_URL": url, "PS1": "$ ", "TERM": "dumb"},
        encoding="utf-8",
        timeout=20,
    )
    shell.sendline(f"{' '.join(JSCTL)} sub a.b")
    shell.expect("ubscrib")
    shell.sendcontrol("z")
    shell.expect("Stopped")
    shell.expect_exact("\n$ ")  # after the line of the job, which has its command, too
    shell.sendline("fg")
    shell.expect("sub a.b")
    shell.sendcontrol("c")
    shell.expect_exact("\n$ ")  # the shell reads again: what comes before is lost
    shell.sendline("echo ended $?")
    shell.expect("ended [0-9]+")
    shell.sendline("exit")
    shell.close(force=True)


@pytest.mark.slow
def test_what_differs_runs_as_always(agent: str, tmp_path: Path) -> None:
    base = {**os.environ, "HOME": str(tmp_path), "JSCTL_AGENT": agent}
    for environ in (
        {**base, "PYTHONHASHSEED": "1"},
        {**base, "JSCTL_AGENT": str(tmp_path / "nothing")},
        {**base, "JSCTL_AGENT": ""},
        {**base, "LC_ALL": "C", "PYTHONUTF8": "0"},
    ):
        assert call(environ, "version").returncode == 0
    folder = tmp_path / "open"
    folder.mkdir(0o755)
    (folder / "socket").symlink_to(agent)
    shown = call({**base, "JSCTL_AGENT": str(folder / "socket")}, "version")
    assert shown.returncode == 0, "a folder that others may enter is not used"


def test_who_may_do_something_else_is_not_served(agent: str) -> None:
    environ = {**os.environ, "JSCTL_AGENT": agent}
    assert "jsctl.app" not in list_imports(environ)
    assert "jsctl.app" in list_imports({**environ, "LD_BIND_NOW": "1"})
    for wrapper in (["setpriv", "--no-new-privs"], ["unshare", "--map-root-user", "--net"]):
        can_run = subprocess.run([*wrapper, "true"], capture_output=True, check=False).returncode == 0
        assert not can_run or "jsctl.app" in list_imports(environ, *wrapper), wrapper


def test_an_agent_imports_nothing_from_the_current_folder(tmp_path: Path) -> None:
    for name in ("click", "selectors", "jsctl"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('of the current folder')")
    words = [sys.executable, "-P", "-m", "jsctl", "agent", "run", "--", sys.executable, "-P", "-c", _TRACED]
    shown = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert shown.stdout.startswith("jsctl ") and "jsctl.app" not in shown.stderr, shown


@pytest.mark.slow
def test_an_editor_has_the_terminal(environ: dict[str, str], tmp_path: Path) -> None:
    """Such as emacs, which opens /dev/tty."""
    assert call(environ, "context", "add", "C", "--server", "nats://127.0.0.1:1").returncode == 0
    (tmp_path / "editor").write_text(": < /dev/tty")
    screen = in_terminal({**environ, "EDITOR": f"sh {tmp_path}/editor"}, "context", "edit", "C")
    screen.expect(pexpect.EOF)
    assert screen.wait() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "begin", ["", f'eval "$({" ".join(JSCTL)} agent start)"; '], ids=["without", "within"]
)
def test_what_stops_its_group_stops_the_script(begin: str, tmp_path: Path) -> None:
    """As vi does at ctrl-Z. The shell that starts the agent ignores this signal meanwhile."""
    (tmp_path / "pager").write_text("kill -TSTP 0; cat > /dev/null")
    environ = {**os.environ, "PS1": "$ ", "TERM": "xterm", "PAGER": f"sh {tmp_path}/pager"}
    shell = pexpect.spawn("bash", ["--norc", "-i"], env=environ, encoding="utf-8", timeout=20)
    shell.sendline(f"{begin}sh -c '{' '.join(JSCTL)} manual streams; echo af''ter'")
    shell.expect("Stopped")
    shell.sendline("fg")
    shell.expect("after")
    shell.sendline("exit")
    shell.expect(pexpect.EOF)


@pytest.mark.slow
def test_ctrl_z_without_a_shell(environ: dict[str, str], url: str) -> None:
    """Nobody could continue it: the system does not stop it."""
    screen = in_terminal({**environ, "NATS_URL": url}, "sub", "a.b")
    screen.expect("ubscrib")
    screen.sendcontrol("z")
    screen.sendcontrol("c")
    screen.expect(pexpect.EOF)
    assert screen.wait() == 0
