"""Networks: mutated answers, other states in their folders, and programs that are no nats-server."""

import json
import os
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from jsctl.localserver import readiness, startup
from tests.fuzz.commands import NETWORK_VERBS, STARTING_VERBS
from tests.fuzz.record import Record, cases
from tests.support.hostile import middleman, mutate_answer, mutate_bytes, mutate_json
from tests.support.run import Cli, Outcome

REFUSED = (0, 1, 2, 3, 4, 5, 64)


def check(outcome: Outcome, record: Record, what: object) -> None:
    assert "bug in jsctl" not in outcome.err and "Traceback" not in outcome.err, (what, outcome.err[-700:])
    assert outcome.status in REFUSED, (what, outcome)
    record.count(f"status {outcome.status}")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A network of one server that runs."""
    cli, store = Cli(tmp_path / "config"), tmp_path / "network"
    cli(f"server network up single --store {store} --port 0 --timeout 30s", status=0)
    state = (store / "network.json").read_text()
    try:
        yield store
    finally:
        (store / "network.json").write_text(state)
        cli(f"server network down {store} --force", status=0)


def line_of(verb: str, folder: Path) -> list[str]:
    """What a verb is called with, so that it comes to the state and the servers of a network."""
    return [word.replace("{}", str(folder)) for word in NETWORK_VERBS[verb].split()]


@pytest.mark.long
def test_answers(folder: Path, tmp_path: Path) -> None:
    """A man in the middle of the network's server and its contexts."""
    state = (folder / "network.json").read_text()
    url = json.loads(state)["nodes"][0]["url"]
    port = int(url.rpartition(":")[2])
    cli = Cli(tmp_path / "config")
    asking = [verb for verb in NETWORK_VERBS if verb.split()[-1] in ("status", "wait", "env", "link", "ls")]
    with middleman(port) as man, Record("mutated answers of networks") as record:
        for path in (folder / "network.json", *folder.rglob("contexts/**/*.json")):
            path.write_text(path.read_text().replace(f":{port}", f":{man.port}"))
        lines = [line_of(verb, folder) for verb in asking]
        lines.append(f"doctor --server {url.replace(str(port), str(man.port))}".split())
        for number in range(cases(6 * len(lines))):
            chance = random.Random(number)
            man.change = partial(_perhaps, chance) if number >= len(lines) else None
            line = [*lines[number % len(lines)], "--timeout", "300ms"]
            check(cli(line), record, (number, line))


def _perhaps(chance: random.Random, _: bytes, payload: bytes) -> bytes:
    return mutate_answer(payload, chance) if chance.random() < 0.5 else payload


def test_states(tmp_path: Path) -> None:
    """Another `network.json` of a network that does not run, for each verb that starts no server."""
    cli, store = Cli(tmp_path / "config"), tmp_path / "network"
    cli(f"server network up single --store {store} --port 0 --timeout 30s", status=0)
    cli.environ["SHELL"] = str(
        tmp_path / "no shell"
    )  # one that is there would take the place of this process
    saved = (store / "network.json").read_text()
    cli(f"server network kill --all --network {store}", status=0)
    lines = {verb: line_of(verb, store) for verb in NETWORK_VERBS}
    with Record("states of networks") as record:
        for number in range(cases(6 * len(lines))):
            chance = random.Random(number)
            verb = list(lines)[number % len(lines)]
            if number % 3:
                text = json.dumps(mutate_json(json.loads(saved), chance)).encode()
            else:
                text = mutate_bytes(saved.encode(), chance)
            (store / "network.json").write_bytes(text)
            check(cli([*lines[verb], "--timeout", "300ms"]), record, (number, verb, text[:300]))
    (store / "network.json").write_text(saved)
    cli(f"server network down {store} --force", status=0)


_PORTS = """#!/bin/sh
for word; do last=$word; done
%s > "$last/nats-server_$$.ports"
exec sleep 60
"""

PROGRAMS = {
    "prints garbage": "#!/bin/sh\nhead -c 3000000 /dev/urandom\nexit 0\n",
    "exits at once": "#!/bin/sh\nexit 0\n",
    "fails at once": "#!/bin/sh\necho no >&2\nexit 3\n",
    "opens no port": "#!/bin/sh\nexec sleep 60\n",
    "kills itself": "#!/bin/sh\nkill -9 $$\n",
    "writes wrong ports": _PORTS % "echo '{\"nats\": [5]}'",
    "writes deep ports": _PORTS % "printf %5000s | tr ' ' '['",
    "writes another port": _PORTS % 'echo \'{"nats": ["nats://127.0.0.1:1"]}\'',
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * ("port" in name)) for name in PROGRAMS]
)
def test_programs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line, and no process stays."""
    monkeypatch.setattr(startup, "START_SECONDS", 1)
    monkeypatch.setattr(readiness, "REPLY_SECONDS", 1)
    program = tmp_path / "nats-server"
    program.write_text(PROGRAMS[name])
    program.chmod(0o755)
    cli = Cli(tmp_path / "config")
    cli.environ["JSCTL_NATS_SERVER"] = str(program)
    with Record(f"server that {name}") as record:
        verbs = ["server network up"] if "port" in name else list(STARTING_VERBS)  # these are waited for
        for verb, line in ((verb, STARTING_VERBS[verb]) for verb in verbs):
            words = [word.replace("{}", str(tmp_path / "store")) for word in line.split()]
            outcome = cli([*words, "--timeout", "1s"])
            check(outcome, record, verb)
            assert outcome.status, (verb, outcome)
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    running = path.read_bytes()
                except OSError:
                    continue
                assert os.fsencode(tmp_path) not in running, (verb, running)
