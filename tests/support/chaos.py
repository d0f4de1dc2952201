"""Trouble for a cluster of servers and for what reads from it: processes are killed, leaders move.

What is published is known: message number N has the subject and the payload of N, and is published again,
under the same message id, until the server says where it is.
"""

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import nats
import nats.errors
from nats.aio.client import Client as NatsClient

from jsctl.errors import JsctlError
from tests.support import js
from tests.support.processes import Process, in_session
from tests.support.servers import Cluster, RealServer
from tests.support.waiting import wait_for

STREAM = "S"

KILLS = ("driver", "executor", "worker", "server")
"""Kinds of trouble that are SIGKILL."""


def subject(number: int) -> str:
    """Return the subject of a message by its number."""
    return f"{STREAM}.{number % 7}"


def payload(number: int) -> bytes:
    """Return a payload that is not text; its content and length depend on the number."""
    return b"%d\x00\xff" % number + random.Random(number).randbytes(number % 200)


class Publisher(threading.Thread):
    """A publisher of messages 1, 2, 3, ... until it is stopped, at most `rate` a second.

    acked: the message's number by its sequence. again: how often one had to be published again.
    """

    def __init__(self, urls: str, rate: int) -> None:
        super().__init__()
        self.acked: dict[int, int] = {}
        self.again = 0
        self.failure: BaseException | None = None
        self._urls = urls.split(",")
        self._rate = rate
        self._stopped = threading.Event()

    def run(self) -> None:
        try:
            asyncio.run(self._publish())
        except BaseException as error:
            self.failure = error

    def stop(self) -> None:
        """Stop publishing after what was begun. Raises the error that ended it before."""
        self._stopped.set()
        self.join(120)
        assert not self.is_alive(), "the servers take no messages"
        if self.failure:
            raise self.failure

    async def _publish(self) -> None:
        async def nothing(error: Exception) -> None:
            pass

        client = await nats.connect(
            self._urls, max_reconnect_attempts=-1, reconnect_time_wait=0.1, error_cb=nothing
        )
        number, at_once = 0, 20
        try:
            while not self._stopped.is_set():
                begin = time.monotonic()
                batch = range(number + 1, number + at_once + 1)
                await asyncio.gather(*(self._until_acked(client, one) for one in batch))
                number += at_once
                await asyncio.sleep(max(0.0, begin + at_once / self._rate - time.monotonic()))
        finally:
            await client.close()

    async def _until_acked(self, client: NatsClient, number: int) -> None:
        stream = client.jetstream(timeout=2)
        while True:
            try:
                ack = await stream.publish(
                    subject(number), payload(number), headers={"Nats-Msg-Id": str(number)}
                )
            except (nats.errors.Error, TimeoutError):
                self.again += 1
                await asyncio.sleep(0.1)
            else:
                assert self.acked.setdefault(ack.seq, number) == number, "two messages at one sequence"
                return


class Victim:
    """A program with all that it starts, in a session of its own: killed as a whole, and started again.

    progress: a count that grows with its progress, also over its restarts.
    """

    def __init__(self, args: Sequence[str], log: Path, progress: Callable[[], int]) -> None:
        self.progress = progress
        self._args = args
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the program."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._args, stdout=log, stderr=log, start_new_session=True)

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def log_text(self) -> str:
        """Return the last 5,000 bytes of the log."""
        return self._log.read_text(errors="replace")[-5000:]

    def kill(self) -> None:
        """Kill every process (SIGKILL)."""
        if self._process is None:
            return
        deadline = time.monotonic() + 30
        while running := in_session(self._process.pid):
            assert time.monotonic() < deadline, f"cannot be killed: {running}"
            for process in running:
                slay(process.pid)
            self._process.poll()
            time.sleep(0.02)
        self._process.wait()

    def executors(self) -> list[Process]:
        """Return Spark's executors, each a JVM."""
        return [one for one in self._running() if "CoarseGrainedExecutorBackend" in one.args]

    def workers(self) -> list[Process]:
        """Return the Python processes of executors: those that start others, and those that read."""
        running = self._running()
        parents = {one.pid for one in running if "CoarseGrainedExecutorBackend" in one.args}
        first = [one for one in running if one.parent in parents]
        parents = {one.pid for one in first}
        return first + [one for one in running if one.parent in parents]

    def _running(self) -> list[Process]:
        assert self._process is not None
        return in_session(self._process.pid)


def slay(pid: int) -> None:
    """Kill a process (SIGKILL), if it still runs."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Torment:
    """Trouble of each kind, in an order and at moments that a seed decides; then none until the victim
    makes progress.

    driver, executor, worker: SIGKILL of the victim as a whole, of a JVM, of a Python process. server:
    SIGKILL, and a start some time later. restart: the same in good order. leader: another server leads
    the stream. At most one server is away at a time, for a moment or while other things happen.
    """

    def __init__(self, seed: int, cluster: Cluster, victim: Victim) -> None:
        self.done: Counter[str] = Counter()
        self._random = random.Random(seed)
        self._servers = list(cluster.servers.values())
        self._victim = victim
        self._away: RealServer | None = None
        self._kinds: dict[str, Callable[[], None]] = {
            "driver": self._driver,
            "executor": self._executor,
            "worker": self._worker,
            "server": self._server,
            "restart": self._restart,
            "leader": self._leader,
        }

    def run(self, kinds: Sequence[str], pause: float) -> None:
        """Do all of `kinds` in random order, up to `pause` seconds apart. Raises AssertionError when the
        victim ends by itself with another status than 0."""
        begin, reached = time.monotonic(), self._victim.progress()
        try:
            for kind in self._random.sample(kinds, len(kinds)):
                if kind == "driver" and self._random.random() < 0.7:
                    self._until_progress(reached)
                self._wait(self._random.uniform(0, pause))
                self._kinds[kind]()
                if kind == "driver":
                    reached = self._victim.progress()
                self.done[kind] += 1
                print(f"{time.monotonic() - begin:7.1f} s  {kind}", flush=True)
                if self._away and self._random.random() < 0.6:
                    self._come_back()
        finally:
            self._come_back()
        self._until_progress(self._victim.progress())

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._look()
            time.sleep(min(left, 0.2))

    def _until_progress(self, reached: int) -> None:
        deadline = time.monotonic() + 240
        while self._victim.progress() <= reached:
            assert time.monotonic() < deadline, f"makes no progress:\n{self._victim.log_text()}"
            self._wait(0.2)

    def _look(self) -> None:
        status = self._victim.status
        assert status in (None, 0), f"ended with status {status}:\n{self._victim.log_text()}"
        if status == 0:
            self._victim.start()

    def _driver(self) -> None:
        self._victim.kill()
        self._victim.start()

    def _executor(self) -> None:
        self._slay_one(self._victim.executors)

    def _worker(self) -> None:
        self._slay_one(self._victim.workers)

    def _slay_one(self, candidates: Callable[[], list[Process]]) -> None:
        """Kill one of the candidates, or wait until there is one: Spark takes its time to start."""
        deadline = time.monotonic() + 240
        while not (result := candidates()):
            assert time.monotonic() < deadline, f"nothing to kill:\n{self._victim.log_text()}"
            self._wait(0.3)
        self._wait(self._random.uniform(0, 1))
        slay(self._random.choice(candidates() or result).pid)

    def _server(self) -> None:
        self._go_away(RealServer.kill)

    def _restart(self) -> None:
        self._go_away(RealServer.stop)

    def _go_away(self, end: Callable[[RealServer], None]) -> None:
        self._come_back()
        self._away = self._random.choice(self._servers)
        end(self._away)
        self._wait(self._random.uniform(0, 2))

    def _come_back(self) -> None:
        if self._away:
            self._away.start()
            self._away = None

    def _leader(self) -> None:
        def moved() -> bool:
            with contextlib.suppress(JsctlError):
                js.ask(
                    self._servers[self._random.randrange(3)].url_for("acc"),
                    f"STREAM.LEADER.STEPDOWN.{STREAM}",
                )
                return True
            return False

        wait_for(moved, "the stream has no leader", 60)
