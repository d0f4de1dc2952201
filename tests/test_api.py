"""`jsctl.run` and `jsctl.run_async`: data, one error, and nothing of the process changed."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

import jsctl
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Account, AccountServers


@pytest.fixture
def environ(cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Set the account's address in the environment of this process, and return it."""
    for name, value in cli.environ.items():
        monkeypatch.setenv(name, value)
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", b"one", count=2)
    return cli.environ


def test_a_line_returns_what_json_writes(environ: dict[str, str], cli: Cli) -> None:
    assert jsctl.run("stream ls") == ["ORDERS"]
    assert jsctl.run(["stream", "info", "ORDERS"], json=True)["config"]["subjects"] == ["orders.>"]
    assert "ORDERS" in jsctl.run("stream ls", json=False)
    assert jsctl.run("stream ls --as csv").splitlines()[1].startswith("ORDERS,")
    [first, second] = jsctl.run("subscribe --stream ORDERS --count 2")
    assert (first["sequence"], second["sequence"]) == (1, 2), "events are a list"
    assert len(jsctl.run("subscribe --stream ORDERS --count 1")) == 1, "one event, too"
    jsctl.run("publish orders.new", stdin="from stdin")
    assert jsctl.run("stream get ORDERS 3", json=False).endswith("from stdin\n")
    body = bytes(range(256))
    jsctl.run("publish orders.new", stdin=body)
    output = jsctl.run("stream get ORDERS 4 --raw", json=False)
    assert output.encode(errors="surrogateescape").removesuffix(b"\n") == body, "bytes come back"
    file = cli.home.parent / "config.json"
    file.write_text('{"name": "NEW", "subjects": ["new"]}')
    assert jsctl.run(["stream", "get", "ORDERS", 3])["seq"] == 3, "a number is a word, too"
    jsctl.run(["stream", "add", "NEW", "--config", file, "--max-msgs", 5])
    assert jsctl.run("stream --help").startswith("Usage: jsctl stream")
    assert jsctl.run("context ls", environ={"XDG_CONFIG_HOME": str(cli.home / "none")}) == []


def test_an_error_is_typed(environ: dict[str, str]) -> None:
    with pytest.raises(jsctl.CommandError, match="None is not a text, a number or a path") as unset:
        jsctl.run(["stream", "info", None])  # type: ignore[list-item]
    assert unset.value.status == 64
    with pytest.raises(jsctl.CommandError) as missing:
        jsctl.run("stream info NOPE")
    error = missing.value
    assert (error.status, error.err_code, error.code) == (3, 10059, 404)
    assert (error.message, error.hint) == ("stream NOPE not found", "jsctl stream ls lists the streams")
    with pytest.raises(jsctl.CommandError, match="No such option '--nope'; jsctl stream ls --help") as usage:
        jsctl.run("stream ls --nope", json=False)
    assert (usage.value.status, usage.value.err_code) == (64, None)
    with pytest.raises(jsctl.CommandError) as refused:
        jsctl.run("stream ls --server nats://ann:hunter2@127.0.0.1:1")
    assert refused.value.status == 4 and "hunter2" not in repr(refused.value)
    assert refused.value.__cause__ is None and refused.value.__suppress_context__
    with pytest.raises(jsctl.CommandError) as failed:
        jsctl.run("report --fail-on 'messages > 1'")
    assert failed.value.status == 1 and failed.value.data["reports"], "what it answered is in the error"
    with pytest.raises(jsctl.CommandError) as different:
        jsctl.run("stream edit ORDERS --description new --dry-run")
    assert different.value.status == 2 and different.value.data
    for line in ("stream rm ORDERS", "server network shell x", "nope", "", "stream info"):
        with pytest.raises(jsctl.CommandError) as error_of:
            jsctl.run(line)
        assert error_of.value.status in (3, 64), line
    with pytest.raises(jsctl.CommandError, match="into words: No closing quotation; close") as unclosed:
        jsctl.run("stream info 'ORDERS")
    assert unclosed.value.status == 64 and type(unclosed.value.status) is int
    with pytest.raises(jsctl.CommandError, match=r"no end within 0\.3 s") as late:
        jsctl.run("subscribe orders.>", timeout=0.3)
    assert late.value.status == 4 and late.value.data == []


def test_signals_end_a_line_and_reach_the_caller(environ: dict[str, str]) -> None:
    """Ctrl-C is the ordinary end of `subscribe`, and not that of a program that calls it."""
    received: list[int] = []
    previous = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            sender = threading.Timer(0.7, os.kill, [os.getpid(), number])
            sender.start()
            if number == signal.SIGINT:
                with pytest.raises(KeyboardInterrupt):
                    jsctl.run("subscribe orders.>", timeout=20)
            else:
                try:
                    assert jsctl.run("subscribe orders.>", timeout=20) == []
                except jsctl.CommandError as error:
                    assert error.status == 143
            sender.join()
        assert received == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, previous)


def test_the_process_stays_as_it_is(
    environ: dict[str, str], capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    os.environ["NATS_PASSWORD"] = "hunter2"

    def state() -> object:
        return (
            dict(os.environ),
            Path.cwd(),
            warnings.showwarning,
            [*warnings.filters],
            signal.getsignal(signal.SIGINT),
            sys.stdout,
            sys.unraisablehook,
        )

    try:
        before, threads = state(), {*threading.enumerate()}
        with caplog.at_level(logging.INFO, "jsctl"):
            for line in ("stream ls", "--help", "--version", "subscribe --stream ORDERS --count 1", "doctor"):
                jsctl.run(line)
            jsctl.run("stream ls --context nope --no-context")
        assert state() == before
        assert {*threading.enumerate()} <= threads, "one of an earlier test may have ended meanwhile"
    finally:
        del os.environ["NATS_PASSWORD"]
    assert capfd.readouterr() == ("", "")


async def check_within_a_loop(environ: dict[str, str]) -> None:
    assert jsctl.run("stream ls") == ["ORDERS"], "it blocks the loop, and works"
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.001)

    ticking = asyncio.ensure_future(tick())
    answers = await asyncio.gather(*(jsctl.run_async("stream ls") for _ in range(8)))
    assert answers == [["ORDERS"]] * 8 and ticks > 2, "the loop goes on meanwhile"
    with pytest.raises(jsctl.CommandError) as missing:
        await jsctl.run_async("stream info NOPE")
    assert missing.value.err_code == 10059
    threads = threading.active_count()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(jsctl.run_async("subscribe orders.>"), 0.2)
    assert threading.active_count() == threads, "a cancelled call has ended"
    ticking.cancel()


def test_within_a_loop(environ: dict[str, str]) -> None:
    asyncio.run(check_within_a_loop(environ))


def hammer(tmp_path: Path, accounts: list[Account], seconds: float) -> int:
    """Run lines in sixteen threads on four contexts; return how many. Each sees its own context only."""
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    for number, account in enumerate(accounts):
        js.stream(account.url, f"S{number}", f"s{number}.>")
        jsctl.run(f"context add c{number} --server {account.url}", environ=environ)
    until, counts, faults = time.monotonic() + seconds, [0] * 16, list[str]()

    def work(worker: int) -> None:
        context, other = worker % 4, (worker + 1) % 4
        while time.monotonic() < until:
            where = f"--context c{context}"
            if (names := jsctl.run(f"stream ls {where}", environ=environ)) != [f"S{context}"]:
                faults.append(f"{context}: {names}")
            info = jsctl.run(f"stream info S{context} {where}", environ=environ)
            if info["config"]["subjects"] != [f"s{context}.>"]:
                faults.append(f"{context}: {info['config']}")
            try:
                jsctl.run(f"stream info S{other} {where}", environ=environ)
                faults.append(f"{context}: sees S{other}")
            except jsctl.CommandError as error:
                if error.err_code != 10059 or f"ls --context c{context} " not in error.hint:
                    faults.append(f"{context}: {error!r} {error.hint}")
            jsctl.run(f"publish s{context}.x {where}", stdin="x", environ=environ)
            if jsctl.run(f"stream ls --help {where}", environ=environ).count("Usage: ") != 1:
                faults.append(f"{context}: help")
            counts[worker] += 5

    def safely(worker: int) -> None:
        try:
            work(worker)
        except BaseException as error:
            faults.append(repr(error))

    threads = [threading.Thread(target=safely, args=[worker]) for worker in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert min(counts) > 0
    return sum(counts)


@pytest.mark.slow
def test_sixteen_threads_on_four_contexts(tmp_path: Path, account_servers: AccountServers) -> None:
    hammer(tmp_path, [account_servers.new_account() for _ in range(4)], 2)


@pytest.mark.long
def test_sixteen_threads_on_four_contexts_for_a_minute(
    tmp_path: Path, account_servers: AccountServers
) -> None:
    assert hammer(tmp_path, [account_servers.new_account() for _ in range(4)], 60) > 1000


def test_the_package_imports_nothing_for_it() -> None:
    probe = "import sys, jsctl; print('asyncio' in sys.modules, 'click' in sys.modules, jsctl.run.__name__)"
    out = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "False", "run"]
    assert not hasattr(jsctl, "nope")
