"""Twenty faults made with `server network`: whether `incident` names the first change, and what
the alerts that come with jsctl say of them."""

import multiprocessing
import re
import subprocess
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from jsctl.base.units import format_rfc3339, parse_time_ns, seconds_to_ns
from jsctl.errors import JsctlError
from jsctl.monitor.report.recording import Recording, encode_round
from tests.support.networks import Networks, networks_below
from tests.support.rounds import START
from tests.support.waiting import wait_for, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

ROUNDS = 7
"""Rounds that are recorded of each fault."""

QUIET = 3
"""Rounds that are recorded before each fault."""

SLOWER = 10.0
"""Seconds between two rounds for which alerts are tried, as theirs wait for up to minutes."""


class Fault(NamedTuple):
    """What `server network` does, with {leader} and {follower} of a stream; how it is undone, empty if it
    need not be; and a pattern of what the first change must name."""

    line: str
    undo: str
    expected: str


_VERBS = {"kill": "start", "pause": "resume", "stop": "start", "restart": "", "lame-duck": "start"}
OF_CLUSTER = [
    *(
        Fault(f"{verb} {{{role}}}", undo and f"{undo} {{{role}}}", rf"\b{{{role}}}\b")
        for verb, undo in _VERBS.items()
        for role in ("follower", "leader")
    ),
    Fault("kill {follower} {leader}", "start {follower} {leader}", r"\b({follower}|{leader})\b"),
    Fault("kill --all", "start --all", r"^(cluster|system): |server n\d"),
]
OF_LEAF = [
    Fault("kill hub", "start hub", r"^(hub|system)\b"),
    Fault("kill leaf", "start leaf", "^leaf|leaf-server"),
    Fault("pause leaf", "resume leaf", "^leaf|leaf-server"),
    Fault("restart hub", "", r"^(hub|system)\b"),
    Fault("link down leaf-hub", "link up --all", "COPY|leaf-server"),
    Fault("link drop leaf-hub", "link up --all", "COPY|leaf-server"),
    Fault("isolate leaf", "link up --all", "COPY|leaf-server"),
    Fault("stop leaf", "start leaf", "^leaf|leaf-server"),
]


class Tried(NamedTuple):
    """A fault in a recording. began, ended: seconds since 1970, of the last round before it and before its
    end. expected: a pattern."""

    line: str
    recording: Path
    began: float
    ended: float
    expected: str


class Site(NamedTuple):
    """A network that is recorded. context: of the stream ORDERS."""

    networks: Networks
    name: str
    context: str
    recording: Path

    def run(self, line: str) -> str:
        """Run a command in a shell of the network."""
        return self.networks.at(self.name, line)

    def wait_for_rounds(self, count: int) -> float:
        """Wait for so many more rounds; return the time of the last one."""
        end = self._count() + count
        wait_for(lambda: self._count() >= end, "the rounds")
        return Recording(self.recording).times[-1]

    def find_roles(self) -> Mapping[str, str]:
        """Return the leader of the stream and one of its followers; empty before they are known."""
        variables = self.networks.cli(f"server network env {self.name} --json", status=0).json
        outcome = self.networks.cli(f"stream info ORDERS --json --context {self.context}", environ=variables)
        group = outcome.json.get("cluster") or {} if not outcome.status else {}
        return {"leader": group.get("leader", ""), "follower": min(_list_replicas(group), default="")}

    def try_faults(self, faults: Sequence[Fault]) -> Iterator[Tried]:
        """Make faults, one after the other."""
        for fault in faults:
            roles = wait_until(self.find_roles, lambda roles: roles["leader"])
            began = self.wait_for_rounds(QUIET)
            self.run(f"server network {fault.line.format(**roles)}")
            ended = self.wait_for_rounds(ROUNDS)
            expected = fault.expected.format(**roles)
            yield Tried(fault.line.format(**roles), self.recording, began, ended, expected)
            if fault.undo:
                self.run(f"server network {fault.undo.format(**roles)}")
            self.run("server network wait")

    def _count(self) -> int:
        try:
            return len(Recording(self.recording).times)
        except JsctlError:
            return 0


def _list_replicas(group: Mapping[str, Sequence[Mapping[str, str]]]) -> list[str]:
    return [replica["name"] for replica in group.get("replicas") or ()]


@contextmanager
def recorded(networks: Networks, name: str, contexts: Sequence[str], *lines: str) -> Iterator[Site]:
    """Start a network, run lines in it, and record the contexts until the end."""
    networks(f"up {name} --port 0")
    site = Site(networks, name, contexts[0], networks.home / f"{name}.jsctl")
    for line in lines:
        site.run(line)
    process = networks.cli.start(
        ["report", "--record", str(site.recording), "--watch", "500ms", "--json", "--timeout", "2s"]
        + [word for context in contexts for word in ("--context", context)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        environ=networks.cli(f"server network env {name} --json", status=0).json,
    )
    try:
        yield site
    finally:
        process.terminate()
        process.wait()
        networks(f"down {name} --force")


def try_network(networks: Networks, name: str) -> list[Tried]:
    """All faults of a network, in a recording."""
    lines = ["stream add ORDERS --subjects orders.> --defaults"]
    if name == "cluster":
        contexts, faults = ["cluster", "system"], OF_CLUSTER
        lines[0] += " --replicas 3 --context cluster"
    else:
        contexts, faults = ["hub", "leaf", "system"], OF_LEAF
        lines[0] += " --context hub"
        lines.append("stream add COPY --mirror ORDERS@hub --defaults --context leaf")
    with recorded(networks, name, contexts, *lines) as site:
        return [*site.try_faults(faults)]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Networks, list[Tried]]]:
    """All faults, in two recordings that are made at the same time: they wait most of it."""
    with networks_below(tmp_path_factory.mktemp("faults")) as networks:
        with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
            parts = pool.map(partial(try_network, networks), ("cluster", "hub-leaf"))
            faults = [fault for part in parts for fault in part]
        yield networks, faults


def test_the_first_change_is_named(tried: tuple[Networks, list[Tried]]) -> None:
    networks, faults = tried
    named = []
    for fault in faults:
        between = [format_rfc3339(seconds_to_ns(at)) for at in (fault.began, fault.ended)]
        line = ["incident", "--from", str(fault.recording), "--between", *between, "--json"]
        first = networks.cli(line, status=0).json["first"]
        says = f"{first['name']}: {first['says']}" if first else "nothing"
        named.append(bool(re.search(fault.expected, says)))
        print(f"{'named' if named[-1] else 'not named'}: {fault.line}: {says}")
    assert len(named) == 20 and sum(named) >= 15


def test_the_alerts_that_come_with_jsctl(tried: tuple[Networks, list[Tried]], tmp_path: Path) -> None:
    """They tell of faults that last, and of nothing before; a server that restarts at once wakes nobody."""
    networks, faults = tried
    defaults = networks.cli("alert defaults", status=0).out
    told = 0
    for file in sorted({fault.recording for fault in faults}):
        recording, slow = Recording(file), tmp_path / file.name
        times = recording.times
        with slow.open("wb") as out:
            for number in range(len(times)):
                out.write(encode_round(recording.load(number), START + number * SLOWER))
        line = f"report --alert - --replay {slow} --json"
        events = networks.cli(line, stdin=defaults, status=0).json["events"]
        numbers = [round((parse_time_ns(event["at"]) / 1e9 - START) / SLOWER) for event in events]
        own = [fault for fault in faults if fault.recording == file]
        begins = [bisect_left(times, fault.began) for fault in own]
        assert all(number > begins[0] for number in numbers), "before the first fault"
        for fault, begin, end in zip(own, begins, [*begins[1:], len(times)], strict=True):
            shown = [
                (event["alert"], event["state"])
                for event, number in zip(events, numbers, strict=True)
                if begin < number <= end
            ]
            told += any(state in ("firing", "no data") for _, state in shown)
            assert "restart" not in fault.line or ("no leader", "firing") not in shown
            print(f"{fault.line}: {shown}")
    assert told > 10
