"""`jsctl server run` and `server stop`: a real process with real servers."""

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jsctl.localserver import network, readiness
from tests.support.processes import alive, children
from tests.support.run import Cli
from tests.support.server_run import Run, fails
from tests.support.servers import RealServer, binary, free_port
from tests.support.waiting import has_file, wait_for


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def start(*args: str, environ: dict[str, str] | None = None) -> Run:
        runs.append(Run(tmp_path, *args, environ=environ))
        return runs[-1]

    yield start
    for run in runs:
        if run.process.poll() is None:
            run.process.terminate()
            run.process.communicate(timeout=60)


def test_the_next_terminal_needs_only_the_context(start: Callable[..., Run]) -> None:
    run = start("--port", "0")
    network = run.ready()
    cli = run.cli()
    assert [context["context"] for context in network["contexts"]] == ["local", "local-system"]
    assert cli("stream ls --context local --json", status=0).json == []
    raw = json.loads((run.home / "nats" / "context" / "local.json").read_text())
    assert raw["url"] == network["servers"][0]["url"]
    assert Path(network["servers"][0]["log"]).read_text().count("Server is ready") == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_stop_it_cleanly(start: Callable[..., Run], number: signal.Signals) -> None:
    run = start("hub-leaf", "--port", "0")
    run.ready()
    assert [alive(pid) for pid in run.pids] == [True, True]
    run.process.send_signal(number)
    code, err = run.end()
    assert code == 0
    assert err.endswith("stopped\n")
    assert not any(alive(pid) for pid in run.pids)
    assert "Server Exiting" in Path(run.said["servers"][0]["log"]).read_text()


@pytest.mark.slow
@pytest.mark.parametrize("there", ["", "**/hub.conf", "**/hub.log", "**/leaf.log", "nats/context/*"])
def test_a_signal_during_the_start_leaves_nothing(start: Callable[..., Run], there: str) -> None:
    run = start("hub-leaf", "--port", "0")
    wait_for(lambda: not there or has_file(run.home, there) or run.process.poll() is not None, f"no {there}")
    assert run.process.poll() is None, run.end()
    run.process.send_signal(signal.SIGTERM)
    run.process.communicate(timeout=60)
    wait_for(lambda: not children(run.home), "a process is left")
    assert not list(run.home.glob("nats/context/*"))


@pytest.mark.long
def test_kill_9_leaves_no_server_and_no_context(start: Callable[..., Run]) -> None:
    run = start("hub-leaf", "--port", "0")
    run.ready()
    contexts = run.home / "nats" / "context"
    assert sorted(path.stem for path in contexts.iterdir()) == ["hub", "leaf", "system"]
    run.process.kill()
    wait_for(lambda: not any(alive(pid) for pid in run.pids), "a server outlived jsctl")
    wait_for(lambda: not list(contexts.iterdir()), "a context is left")


@pytest.mark.long
def test_a_killed_guard_leaves_no_server(start: Callable[..., Run]) -> None:
    run = start("hub-leaf", "--port", "0")
    run.ready()
    (guard,) = [line for line in children(run.home) if "localserver.guard" in line]
    os.kill(int(guard.split()[0]), signal.SIGKILL)
    assert run.end()[0] == 1
    wait_for(lambda: not any(alive(pid) for pid in run.pids), "a server outlived its guard")


@pytest.mark.long
def test_a_server_that_dies_is_reported(start: Callable[..., Run]) -> None:
    run = start("hub-leaf", "--port", "0")
    run.ready()
    os.kill(run.pids[1], signal.SIGKILL)
    code, err = run.end()
    assert code == 1
    assert "nats-server (leaf) was ended by signal 9" in err
    assert not any(alive(pid) for pid in run.pids)


@pytest.mark.slow
def test_hub_and_leaf_answer_for_both_domains(start: Callable[..., Run]) -> None:
    run = start("hub-leaf", "--port", "0")
    network = run.ready()
    assert [server["domain"] for server in network["servers"]] == ["hub", "leaf"]
    cli = run.cli()
    for context in ("hub", "leaf"):
        for domain in ("hub", "leaf"):
            assert cli(f"stream ls --context {context} --js-domain {domain} --json", status=0).json == []
    folder = Path(network["folder"])
    assert "include ./accounts.conf" in (folder / "hub.conf").read_text()
    assert (folder / "store_server" / "jetstream").is_dir()


@pytest.mark.slow
def test_a_given_port_is_used_and_its_context_stays(start: Callable[..., Run]) -> None:
    port = free_port()
    run = start("--port", str(port), "--name", "mine", "--domain", "edge")
    network = run.ready()
    assert network["servers"][0]["url"] == f"nats://127.0.0.1:{port}"
    assert network["servers"][0]["domain"] == "edge"
    run.process.terminate()
    run.end()
    again = start("--port", str(port), "--name", "mine")
    assert again.ready()["contexts"][0]["context"] == "mine"
    assert run.cli()("stream ls --context mine --json", status=0).json == []


@pytest.mark.slow
def test_data_outlives_the_server(start: Callable[..., Run], tmp_path: Path) -> None:
    store = tmp_path / "store"
    run = start("--port", "0", "--store", str(store))
    run.ready()
    run.cli()("stream add KEPT --subjects kept --defaults --context local", status=0)
    run.process.terminate()
    run.end()
    again = start("--port", "0", "--store", str(store))
    again.ready()
    assert again.cli()("stream ls --context local --json", status=0).json == ["KEPT"]


def test_a_context_of_the_users_is_never_touched(start: Callable[..., Run], tmp_path: Path) -> None:
    theirs = tmp_path / "nats" / "context" / "local.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text('{"url": "nats://elsewhere:4222"}')
    run = start("--port", "0")
    network = run.ready()
    assert network["contexts"][0]["context"] == "local-2"
    run.process.terminate()
    code, err = run.end()
    assert code == 0
    assert "context 'local' was not created by jsctl" in err
    assert theirs.read_text() == '{"url": "nats://elsewhere:4222"}'
    assert sorted(path.name for path in theirs.parent.iterdir()) == ["local.json"]


def test_a_context_of_ours_that_was_edited_is_theirs(start: Callable[..., Run], tmp_path: Path) -> None:
    run = start("--port", "0")
    run.ready()
    path = tmp_path / "nats" / "context" / "local.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "description": "edited"}))
    run.process.terminate()
    run.end()
    assert json.loads(path.read_text())["description"] == "edited"


@pytest.mark.slow
def test_server_stop_ends_all_servers_of_a_run(start: Callable[..., Run]) -> None:
    run = start("hub-leaf", "--port", "0")
    folder = run.ready()["folder"]
    cli = run.cli()
    cli("server stop leaf", status=0)
    code, err = run.end()
    assert (code, err.splitlines()[-1]) == (0, "stopped")
    assert not any(alive(pid) for pid in run.pids)
    assert "no local server runs" in cli(["server", "stop", folder], status=1).err
    assert "no context, network or folder 'leaf'" in cli("server stop leaf", status=3).err


def test_a_port_in_use(start: Callable[..., Run]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = start("--port", str(port))
        assert fails(run).startswith(f"port {port} is in use; choose another one with --port")
    assert not (run.home / "nats").exists()


def test_a_leaf_that_cannot_start_takes_the_hub_down(start: Callable[..., Run], tmp_path: Path) -> None:
    store = tmp_path / "net"
    store.mkdir()
    (store / "leaf.conf").write_text("nonsense {\n")
    run = start("hub-leaf", "--port", "0", "--store", str(store))
    assert "nats-server (leaf) does not start: " in fails(run)
    assert (store / "leaf.conf").read_text() == "nonsense {\n"
    assert not children(tmp_path)


def test_an_unwritable_store(start: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    line = fails(start("--port", "0", "--store", str(tmp_path / "file" / "below")))
    assert line == (
        f"cannot write to {tmp_path / 'file' / 'below'}: Not a directory; choose another folder with --store"
    )
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "jetstream").touch()
    line = fails(start("--port", "0", "--store", str(tmp_path / "store")))
    assert "JetStream cannot use its store" in line


@pytest.mark.slow
def test_a_store_in_use(start: Callable[..., Run], tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    first = start("--port", "0", "--store", store)
    first.ready()
    line = fails(start("--port", "0", "--store", store, "--name", "other"))
    assert f"{store} is in use by a local server (process " in line
    assert alive(first.pids[0])


def test_two_networks_at_once(start: Callable[..., Run]) -> None:
    first, second = start("--port", "0"), start("--port", "0", "--name", "other")
    urls = {run.ready()["servers"][0]["url"] for run in (first, second)}
    assert len(urls) == 2
    assert {c["context"] for c in second.said["contexts"]} == {"other", "other-system"}


def test_a_server_of_a_relative_path(start: Callable[..., Run]) -> None:
    """It starts in a folder of its own, from which the path leads elsewhere."""
    start("--port", "0", environ={"JSCTL_NATS_SERVER": os.path.relpath(binary())}).ready()


def test_no_nats_server(start: Callable[..., Run], tmp_path: Path) -> None:
    line = fails(start(environ={"JSCTL_NATS_SERVER": str(tmp_path / "nope")}))
    assert f"JSCTL_NATS_SERVER is {tmp_path / 'nope'}, which does not exist" in line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x7fELF" + b"\x99" * 60, "is not a program for this machine"),
        (b"#!/bin/sh\necho hello\n", "is not a working nats-server"),
        (b"#!/no/such/interpreter\n", "cannot run"),
    ],
)
def test_a_binary_that_does_not_run(
    start: Callable[..., Run], tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "nats-server"
    path.write_bytes(content)
    path.chmod(0o755)
    assert message in fails(start(environ={"JSCTL_NATS_SERVER": str(path)}))
    assert message in fails(start(environ={"PATH": f"{tmp_path}:/bin:/usr/bin"}))


def test_a_configuration_as_it_is(start: Callable[..., Run], tmp_path: Path) -> None:
    config, store = tmp_path / "my.conf", tmp_path / "js"
    text = f"""
listen: "127.0.0.1:{free_port()}"
server_name: mine
jetstream {{ store_dir: "{store}", domain: mydomain }}
authorization {{ user: joe, password: secret }}
"""
    config.write_text(text)
    run = start("--config", str(config))
    server = run.ready()["servers"][0]
    assert (server["name"], server["domain"]) == ("mine", "mydomain")
    assert config.read_text() == text
    login = "--user joe --password secret"
    assert run.cli()(f"stream ls --context local {login} --json", status=0).json == []
    run.process.terminate()
    err = run.end()[1]
    assert "my.conf requires a login; add one with jsctl context edit local" in err
    assert "try:" not in err  # a line that cannot log in


@pytest.mark.slow
def test_a_wrong_configuration(start: Callable[..., Run], tmp_path: Path) -> None:
    config = tmp_path / "my.conf"
    config.write_text(f'jetstream {{ store_dir: "{tmp_path}" }}\n')
    line = fails(start("--config", str(config), "--store", str(tmp_path / "s")), status=64)
    assert "the configuration has its own store_dir; leave out --store" in line
    config.write_text("listen: 127.0.0.1:-1\nnonsense: 1\n")
    assert "my.conf:2:" in (line := fails(start("--config", str(config)))) and "nonsense" in line
    assert "there is no file" in fails(start("--config", str(tmp_path / "none.conf")), status=64)


@pytest.mark.long
def test_an_edit_that_keeps_the_leaf_out_is_reported(
    start: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "net"
    first = start("hub-leaf", "--port", "0", "--store", str(store))
    first.ready()
    first.process.terminate()
    first.end()
    leaf = store / "leaf.conf"
    leaf.write_text(leaf.read_text().replace("acc:acc@", "acc:wrong@"))
    for module in (network, readiness):
        monkeypatch.setattr(module, "REPLY_SECONDS", 5)
    failed = Cli(tmp_path)(f"server run hub-leaf --port 0 --store {store}", status=1)
    assert "user acc did not reach all of them in 5s; leaf.conf was edited; logs are in" in failed.err
    assert not children(tmp_path)


def test_what_follows_two_dashes_goes_to_the_server(start: Callable[..., Run]) -> None:
    monitor = free_port()
    run = start("--port", "0", "--", "--http_port", str(monitor), "-D")
    run.ready()
    with socket.create_connection(("127.0.0.1", monitor), timeout=5):
        pass
    assert "[DBG]" in Path(run.said["servers"][0]["log"]).read_text()


def test_a_server_that_only_says_its_version(offline_cli: Cli, tmp_path: Path) -> None:
    outcome = offline_cli(["server", "run", "--store", str(tmp_path / "s"), "--", "--version"], status=0)
    assert outcome.out.startswith("nats-server: v")
    line = ["server", "run", "--store", str(tmp_path / "s"), "--", "--no-such-flag"]
    assert "flag provided but not defined: -no-such-flag" in offline_cli(line, status=64).err


@pytest.mark.slow
def test_an_edited_configuration_stays(start: Callable[..., Run], tmp_path: Path) -> None:
    store = tmp_path / "net"
    first = start("hub-leaf", "--port", "0", "--store", str(store))
    first.ready()
    first.process.terminate()
    first.end()
    accounts = store / "accounts.conf"
    edited = accounts.read_text() + "# mine\n"
    accounts.write_text(edited)
    again = start("hub-leaf", "--port", "0", "--store", str(store))
    again.ready()
    again.process.terminate()
    assert f"{accounts} was edited, and is used unchanged" in again.end()[1]
    assert accounts.read_text() == edited


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("server run --store x --domain 'a.b'", "'a.b' is not a valid JetStream domain"),
        ("server run hub-leaf --domain x", "--domain cannot be used with hub-leaf"),
        ("server run hub-leaf --config x", "--config cannot be used with hub-leaf"),
        ("server run --domain x --config y", "--domain and --config cannot be used together"),
        ("server run --domain 'a b'", "'a b' is not a valid JetStream domain"),
        ("server run --name ../x", "'../x' is not a valid name"),
        ("server run --port 99999", "99999 is not in the range"),
        ("server run --port abc", "'abc' is not a whole number; "),
    ],
)
def test_wrong_command_lines(offline_cli: Cli, line: str, message: str) -> None:
    assert message in offline_cli(line, status=64).err


def test_the_path_goes_before_the_installed_one(start: Callable[..., Run], tmp_path: Path) -> None:
    mine = tmp_path / "bin" / "nats-server"
    mine.parent.mkdir()
    mine.write_text(f'#!/bin/sh\nexec {binary()} "$@"\n')
    mine.chmod(0o755)
    run = start("--port", "0", environ={"PATH": f"{mine.parent}:/bin:/usr/bin"})
    run.ready()
    assert alive(run.pids[0])


def test_a_foreign_server_on_the_port_is_not_taken_for_ours(
    start: Callable[..., Run], tmp_path: Path
) -> None:
    foreign = RealServer(tmp_path / "foreign", 'listen: "127.0.0.1:{port}"\n').start()
    try:
        assert "is in use" in fails(start("--port", str(foreign.port)))
    finally:
        foreign.stop()


@pytest.mark.slow
def test_background_returns_and_stop_ends_it(start: Callable[..., Run]) -> None:
    run = start("hub-leaf", "--port", "0", "--name", "tour", "--background")
    network = run.ready()
    code, err = run.end()
    assert code == 0, err
    assert err == ""  # nobody reads it; a terminal is told how to stop them
    cli = run.cli()
    try:
        for domain in ("hub", "leaf"):
            assert cli(f"stream ls --json --context tour-hub --js-domain {domain}", status=0).json == []
    finally:
        cli("server stop tour-hub", status=0)
    assert not [pid for pid in run.pids if alive(pid)]
    assert cli("context ls --json", status=0).json == []
    assert network["folder"].endswith("tour")


def test_background_shows_no_logs(offline_cli: Cli) -> None:
    refused = offline_cli("server run --background --logs", status=64)
    assert "--logs and --background cannot be used together" in refused.err
