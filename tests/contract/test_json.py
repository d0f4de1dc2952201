"""Every verb of the registry without a terminal: with --json it writes documents and nothing else to stdout,
and it asks for nothing: what is missing is named in one line.

This file is long because it has the shortest line of every verb.
"""

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.env import Env
from jsctl.schema.outputs import FORMS
from jsctl.views.result import Result
from tests.contract.test_columns import LISTS
from tests.contract.test_commands import VERBS
from tests.contract.test_nouns import REFUSED
from tests.fuzz.commands import (
    ABOUT_SERVERS,
    NETWORK_VERBS,
    STARTING_VERBS,
    is_endless,
    lines,
    prepare,
    renew_streams,
    without_spark,
)
from tests.support import js, verb_shapes
from tests.support.interrupting import interrupt
from tests.support.operator_site import Site
from tests.support.run import Cli, Outcome
from tests.support.servers import Account, AccountServers
from tests.support.waiting import wait_for

NO_DOCUMENT = {
    "shell": "its lines have flags of their own",
    "server network shell": "becomes the shell of the user",
    "server run": "runs until ctrl-C; what it says is for people",
    "demo guide": "shows commands with their output, as people see it",
    "demo hub-spokes": "the same",
    "mcp": "speaks with an assistant",
    "agent run": "shows what its command shows",
    "agent start": "is evaluated by a shell; tests/agent has it",
    "agent stop": "the same",
}
"""Verbs that write no document, and why."""

OF_SPARK = {
    *(f"export {what}" for what in ("reports", "rollup", "query", "stream", "kv", "objects")),
    *("import", "report history", "spark warm-up", "export compact", "export check"),
}
"""Verbs whose documents tests/commands/export, tests/commands/test_import.py and tests/spark read."""

OF_ACCOUNT = {
    "stream add": "stream add OTHER --subjects other --defaults",
    "stream template": "",
    "backup restore stream": "backup restore stream saved --name RESTORED --subjects restored.>",
    "request": "request demo.echo hi",
    "bench service request": "bench service request demo.echo --msgs 20 --processes 0",
    "bench js pub async": "bench js pub async b.async --create --stream ASYNC --msgs 20 --processes 0",
    "bench compare": "bench compare before.json before.json",
    "latency": "latency --duration 50ms",
    "service request": "service request demo echo London",
    "schema info": "schema info io.nats.micro.v1.ping_response",
    "schema validate": "schema validate io.nats.micro.v1.ping_response ping.json",
    "errors edit": "errors edit errors.json 10059",
    "backup restore account": "backup restore account all --update-streams",
    "backup edit": "backup edit saved edited --obfuscate",
    "backup info": "backup info saved --subjects",
    "backup validate": "backup validate saved",
    "backup lookup": "backup lookup obfuscated.keys.json x",
    "consumer add": "consumer add ORDERS OTHER --pull --defaults",
    "consumer wait": "consumer wait HITS DRAINED --drained",
    "kv wait": "kv wait CONFIG user.1",
    "schedule ls": "schedule ls JOBS",
    "schedule info": "schedule info JOBS jobs.plan",
    "schedule next": "schedule next JOBS jobs.plan",
    "schedule add": "schedule add JOBS jobs.again {} --every 1h --dest jobs.out",
    "schedule rm": "schedule rm JOBS jobs.plan --force",
    "kv add": "kv add OTHER",
    "kv update": "kv update CONFIG user.1 Ann 8",
    "kv import": "kv import CONFIG --force",
    "context rm": "context rm old --force",
    "context add": "context add new --server nats://n1:4222 --defaults",
    "context select": "context select here",
    "context previous": "context previous",
    "watch": "watch alerts.yaml --count 1",
    "completion install": "completion install --shell fish",
    "completion uninstall": "completion uninstall --shell fish",
}
"""Lines of an account, where the first example of the help does not fit what is there."""

NOT_OF_ACCOUNT = ("auth ", *ABOUT_SERVERS, "audit ")
"""How the verbs of the store begin, and those of the system account."""

OF_SYSTEM = {
    "server passwd": "server passwd --generate",
    "server generate": "server generate generated --source leaf --defaults",
    "server account info": "server account info {account}",
    "server account purge": "server account purge {other} --force",
    "server report downgrade": "server report downgrade 0",
    "server request kick": "server request kick 999999 {id}",
    "server request variables": "server request variables",
    "audit gather": "audit gather --output audit.zip --no-server-profiles --force",
}

OF_STORE = {
    "auth operator add": "auth operator add OTHER",
    "auth operator edit": "auth operator edit ACME --tags ours",
    "auth operator import": "auth operator import {jwt} --force",
    "auth operator restore": "auth operator restore THIRD third.json --store restored",
    "auth operator keys rm": "auth operator keys rm ACME {key} --force",
    "auth account add": "auth account add NEW --defaults",
    "auth account exports add": "auth account exports add more more.> ORDERS",
    "auth account exports rm": "auth account exports rm new.> ORDERS --force",
    "auth account imports add": "auth account imports add more more.> SHOP --source ORDERS",
    "auth account imports rm": "auth account imports rm new.> SHOP --force",
    "auth account keys add": "auth account keys add ORDERS packer",
    "auth account mappings add": "auth account mappings add ORDERS orders.sent orders.v2 100",
    "auth account keys rm": "auth account keys rm ORDERS --key shipper --force",
    "auth keys rotate": "auth keys rotate --of-operator --key {signer} --dry-run",
    "auth account mappings rm": "auth account mappings rm ORDERS orders.old --force",
    "auth account revocations rm": "auth account revocations rm bob ORDERS --force",
    "auth user add": "auth user add carl ORDERS --defaults",
    # alice was revoked, perhaps in the same second in which her JWT was signed again
    "auth why": "auth why --user service --account AUTH --pub orders.new",
    "auth user rm": "auth user rm bob ORDERS --force",
    "auth info": "auth info {jwt}",
    "auth import": "auth import {creds}",
    "auth nkey seal": "auth nkey seal report.pdf mine.nk {curve} --output report.sealed",
    "auth nkey unseal": "auth nkey unseal sealed mine.nk {curve} --output unsealed",
}

_NETWORK = {**NETWORK_VERBS, **STARTING_VERBS}
OF_NETWORK = {
    "server network up": _NETWORK["server network up"],
    **{
        f"server network {verb}": _NETWORK[f"server network {verb}"]
        for verb in ("ls", "status", "wait", "env", "topology", "logs", "link", "pause", "resume", "kill")
    },
    "server network start": _NETWORK["server network start"],
    "server network restart": _NETWORK["server network restart"],
    "server network add": "server network add local --network {}",
    "server network scale": "server network scale local 1 --network {}",
    "server network lame-duck": "server network lame-duck --network {} --all --dry-run",
    "server stop": "server stop {}",
    "server network stop": "server network stop --network {} --all",
    "server network down": "server network down {} --force",
}
"""Lines about a network of one server, in their order; {} is its folder."""

RUNNING = {
    *("server run", "demo guide", "demo hub-spokes", "latency", "audit gather", "spark warm-up"),
    *(f"bench js {verb}" for verb in ("ordered", "consume", "fetch", "get sync", "get batch")),
    *(f"bench {what} {verb}" for what in ("kv", "object") for verb in ("put", "get")),
}
"""Verbs that need no argument, and take their time."""

NOT_HERE = {
    "server network add": "cannot become a cluster",
    **REFUSED,
    "server network isolate": "no local network",
    "stream cluster balance": "no leaders to balance",
    "stream template": "",
    "account tls": "has no TLS",
    "server cluster balance": "no cluster to balance",
    "server cluster evacuate": "not clustered",
    "stream cluster cancel-move": "not in a cluster",
    "server cluster rescue": "not clustered",
    "server cluster step-down": "not clustered",
    "server cluster peer-remove": "not clustered",
    "server request kick": "no such client",
}
"""What a single server without TLS refuses, and in which words."""


NOT_CHOSEN_FROM = {
    **dict.fromkeys(("backup account", "backup restore account", "apply"), "says what it did"),
    **dict.fromkeys(("server request profile", "auth account push", "server network up"), "says what it did"),
    "auth account revocations add": "shows what `revocations ls` does",
    "auth account revocations rm": "shows what `revocations ls` does",
    **{
        f"consumer pcgroup {verb}": "shows what `pcgroup info` does"
        for verb in ("create", "add", "drop", "create-mapping", "delete-mapping")
    },
    "kv revert": "shows what `kv history` does",
    "manual": "topics, of which each is a page",
    "cheat": "topics, of which each is a page",
    "version": "four rows",
}
"""Verbs that show a table and take neither --columns nor --filter, and why."""


def documents(outcome: Outcome, what: object) -> int:
    """How many documents stdout has; it has nothing else."""
    try:
        json.loads(outcome.out)
        return 1
    except ValueError:
        pass
    try:
        return len([json.loads(line) for line in outcome.out.splitlines()])
    except ValueError:
        raise AssertionError(f"{what}: not JSON: {outcome.out[:300]!r}") from None


EVENTS = ("ORDERS.live", "orders.live", "events", "echo", "demo.echo", "$KV.CONFIG.live")
REQUESTS = {
    "STREAM.CREATE.ORDERS": {"name": "ORDERS", "subjects": ["ORDERS.*"], "allow_direct": True},
    "CONSUMER.DELETE.ORDERS.NEW": None,
}
"""What happens while a verb without an end runs: messages on subjects, and requests."""

ENDING = {"latency", "trace", "service stats"}
"""Verbs that end here by themselves."""


def make_events(url: str) -> None:
    """Let happen what verbs without an end wait for."""
    with contextlib.suppress(Exception):  # the server of other accounts
        for subject in EVENTS:
            js.send(url, subject, count=20)
        for request, body in REQUESTS.items():
            js.ask(url, request, body)


@contextlib.contextmanager
def noting_tables() -> Iterator[list[str]]:
    """The titles of the tables of the last result that is shown meanwhile: a verb that calls others shows
    its own after theirs."""
    titles: list[str] = []

    def note(env: Env, result: Result) -> Result:
        titles[:] = [table.title for table in result.tables()]
        return select(env, result)

    with pytest.MonkeyPatch.context() as patch:
        select = Env.select
        patch.setattr(Env, "select", note)
        yield titles


def fault(cli: Cli, url: str, path: str, line: list[str]) -> str:
    """What is wrong with what a verb writes, how it ends, and whether one can choose from its tables; empty
    for nothing. url: of the account."""
    with noting_tables() as titles:
        found = find_fault(cli, url, path, line)
    if titles and path not in LISTS and path not in NOT_CHOSEN_FROM:
        return f"{path}: takes no --columns, for {titles}" + (found and f"\n{found}")
    return found


def find_fault(cli: Cli, url: str, path: str, line: list[str]) -> str:
    """What is wrong with what a verb writes, and how it ends; empty for nothing."""
    endless = is_endless(path) and path not in ENDING
    if endless:
        for seconds in (0.15, 1, 5):  # on a busy machine
            outcome = interrupt(lambda: cli(line), seconds, lambda: make_events(url))
            written = (path, outcome.status, outcome.out)
            if path in NO_DOCUMENT or (
                documents(outcome, line)
                and not verb_shapes.find_difference(*written, is_endless=True, is_last=False)
            ):
                break
    else:
        # Servers answer all of these; `doctor` also asks accounts in which nobody does.
        outcome = cli(line if path == "doctor" else [*line, "--timeout", "30s"])
    what = f"{shlex.join(line)}: {outcome}"[:6000]
    if path in NO_DOCUMENT:
        shape = verb_shapes.find_difference(path, outcome.status, "{}", is_endless=endless)
        return shape if outcome.out == "" else what
    if path in NOT_HERE:
        known = outcome.status and NOT_HERE[path] in outcome.err
        return "" if known and documents(outcome, line) == bool(outcome.out) else what
    if not documents(outcome, line):
        return what
    difference = verb_shapes.find_difference(path, outcome.status, outcome.out, is_endless=endless)
    return difference and f"{difference}: {what}"


def account_lines(here: Path) -> dict[str, list[str]]:
    """The lines of verbs of an account, by verb."""
    return {
        path: shlex.split(OF_ACCOUNT.get(path, "")) or line
        for path, line in lines(here).items()
        if not path.startswith(NOT_OF_ACCOUNT) and path not in OF_SPARK
    }


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def service(cli: Cli) -> Iterator[None]:
    """The service demo runs."""
    words = [sys.executable, "-m", "jsctl", "service", "serve", "demo"]
    with subprocess.Popen(words, env={**os.environ, **cli.environ}, stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: cli("service list --json", status=0).json, "the service answers")
        yield
        process.terminate()


def fill(cli: Cli, url: str, here: Path) -> None:
    """Make what the lines of an account name."""
    prepare(cli, url, here)
    js.stream(url, "HITS", "hits.>", allow_msg_counter=True, allow_direct=True)
    js.publish_framed(url, "hits.home", b"NATS/1.0\r\nNats-Incr: 7\r\n\r\n", b"")
    js.stream(url, "JOBS", "jobs.>", allow_msg_schedules=True)
    cli("schedule add JOBS jobs.plan x --every 1h --dest jobs.out", status=0)
    cli("consumer pcgroup create ORDERS WORK 4 m1 m2", status=0)
    reader = {"durable_name": "m2", "ack_policy": "explicit", "filter_subjects": ["2.>", "3.>"]}
    body = {"stream_name": "ORDERS-WORK", "config": reader}
    js.ask(url, "CONSUMER.DURABLE.CREATE.ORDERS-WORK.m2", body)
    cli("consumer add HITS DRAINED --pull --filter hits.none --defaults", status=0)
    for name in ("here", "x", "old"):
        cli(f"context add {name} --server {url}", status=0)
    cli("backup stream ORDERS saved", status=0)
    cli("backup account all", status=0)
    cli("backup edit saved obfuscated --obfuscate", status=0)
    error = cli("errors lookup 10059 --json", status=0).json
    (here / "errors.json").write_text(json.dumps([error]))
    (here / "before.json").write_text(cli("bench pub b --msgs 20 --processes 0 --json", status=0).out)
    (here / "ping.json").write_text(
        json.dumps(
            {
                "type": "io.nats.micro.v1.ping_response",
                "name": "n",
                "id": "i",
                "version": "1.0.0",
                "metadata": {},
            }
        )
    )
    for name in ("alerts.yaml", "new.yaml"):
        (here / name).write_text("alerts: [{name: any, when: messages >= 0 and kind == 'stream'}]")
    cli("report --record today.jsctl --count 1", status=0)
    cli.environ["EDITOR"] = "true"


@pytest.mark.slow
@pytest.mark.timeout(300)  # 200 verbs, of which some use what others made
def test_verbs_of_an_account(cli: Cli, url: str, here: Path, service: None) -> None:
    fill(cli, url, here)
    faults = []
    with without_spark():
        for path, line in renew_streams(url, account_lines(here)):
            faults.append(fault(cli, url, path, [*line, "--json"]))
    assert "\n".join(filter(None, faults)) == ""


def server_lines(
    own_account: Account, account_servers: AccountServers, system: Cli, here: Path
) -> dict[str, list[str]]:
    """The lines of verbs of the system account, by verb, after making what they name."""
    (server,) = system("server list --json", status=0).json
    prepare(Cli(here.parent / "config", own_account.url), own_account.url, here)
    # With a consumer: endless verbs remove that of the other account.
    kept = account_servers.new_account().url
    js.stream(kept, "KEPT", "kept.>")
    js.publish(kept, "kept.new")
    js.stream(kept, "COUNTS", "counts.>", allow_msg_counter=True)
    durable = {"durable_name": "C", "ack_policy": "explicit"}
    newer = {**durable, "durable_name": "N", "priority_policy": "prioritized", "priority_groups": ["g"]}
    for config in (durable, newer):
        body = {"stream_name": "KEPT", "config": config}
        js.ask(kept, f"CONSUMER.DURABLE.CREATE.KEPT.{config['durable_name']}", body)
    values = {
        "account": own_account.user.upper(),
        "other": account_servers.new_account().user.upper(),
        "id": server["server"]["id"],
    }
    found = {}
    for path, line in lines(here).items():
        if path.startswith(NOT_OF_ACCOUNT[1:]):
            words = OF_SYSTEM[path].format(**values).split() if path in OF_SYSTEM else line
            found[path] = [
                server["server"]["name"] if word == "n1" else word
                for word in words
                if word not in ("--user", "--password", "admin", "--context", "system")
            ]
    return found


@pytest.mark.slow
def test_verbs_about_servers(
    own_account: Account, account_servers: AccountServers, system_url: str, tmp_path: Path, here: Path
) -> None:
    system = Cli(tmp_path / "system", system_url)
    found = server_lines(own_account, account_servers, system, here)
    faults = [fault(system, own_account.url, path, [*words, "--json"]) for path, words in found.items()]
    assert "\n".join(filter(None, faults)) == ""


def store_lines(cli: Cli, here: Path) -> dict[str, list[str]]:
    """The lines of verbs of the store, by verb, after making what they name."""
    cli("auth nkey gen curve --output mine.nk", status=0)
    cli("auth nkey gen user --output operator.nk", status=0)
    public = cli("auth nkey show mine.nk --json", status=0).json
    nsc = here.parent / "data/nats/nsc"
    values = {"curve": public["public"], "jwt": nsc / "stores/ACME/ACME.jwt"}
    values["creds"] = nsc / "keys/creds/ACME/ORDERS/alice.creds"
    operator = cli("auth nkey show operator.nk --json", status=0).json["public"]
    (here / "operator.pub").write_text(operator)
    for name in ("backup.nk", "report.pdf", "release.tar"):
        (here / name).write_bytes((here / "mine.nk").read_bytes())
    (here / "release.sig").write_text(cli("auth nkey sign release.tar operator.nk", status=0).out)
    for command in (
        "auth nkey seal report.pdf mine.nk {curve} --output sealed",
        "auth operator add THIRD",
        "auth operator backup THIRD third.json",
        "auth operator select ACME",
        "auth operator keys add ACME",
        *(f"auth account add {name} --defaults" for name in ("ORDERS", "SHOP", "OLD", "AUTH")),
        *(f"auth user add {name} ORDERS --defaults" for name in ("alice", "bob")),
        "auth user add service AUTH --defaults",
        "auth account exports add orders orders.> ORDERS",
        "auth account exports add new new.> ORDERS",
        "auth account exports add prices prices.get ORDERS --service --private",
        "auth account imports add orders orders.> SHOP --source ORDERS",
        "auth account imports add new new.> SHOP --source ORDERS",
        "auth account keys add ORDERS shipper",
        "auth account mappings add ORDERS orders.new orders.v2 100",
        "auth account mappings add ORDERS orders.old orders.v1 100",
        "auth account revocations add bob ORDERS",
        "auth account push --all",
    ):
        cli(command.format(**values), status=0)
    keys = cli("auth operator keys ls ACME --json", status=0).json
    values |= {"key": keys[-1]["key"], "signer": keys[0]["key"]}
    return {
        path: OF_STORE[path].format(**values).split() if path in OF_STORE else line
        for path, line in lines(here).items()
        if path.startswith("auth ")
    }


@pytest.mark.slow
def test_verbs_of_the_store(tmp_path: Path, here: Path) -> None:
    site = Site(tmp_path)
    try:
        found = store_lines(site.cli, here)
        faults = [fault(site.cli, "", path, [*words, "--json"]) for path, words in found.items()]
    finally:
        site.server.stop()
    assert "\n".join(filter(None, faults)) == ""


def test_verbs_of_networks(tmp_path: Path) -> None:
    cli, store = Cli(tmp_path / "config"), tmp_path / "network"
    try:
        faults = [
            fault(cli, "", path, [*shlex.split(line.format(store)), "--json"])
            for path, line in OF_NETWORK.items()
        ]
    finally:
        cli(f"server network down {store} --force")
    assert "\n".join(filter(None, faults)) == ""


def test_every_verb_is_here(here: Path) -> None:
    tried = {*OF_NETWORK, *account_lines(here), *OF_SPARK}
    tried |= {path for path in lines(here) if path.startswith(NOT_OF_ACCOUNT)}
    assert tried | set(NO_DOCUMENT) == set(VERBS)
    others = {"server network shell", *(path for path in VERBS if path.startswith("agent "))}
    frozen = set(VERBS) - others  # whose status is that of another program
    endings = tuple(f" {form}" for form in FORMS)
    verbs = {line for line in verb_shapes.read() if not line.endswith(endings)}
    assert verbs == frozen, "python -m tests.support.generate writes it"


NEEDS = re.compile(r"[Mm]issing|nothing to change|\b(specify|use|name|say)\b")


@pytest.mark.slow
def test_nothing_is_asked_without_a_terminal(cli: Cli, url: str, here: Path, tmp_path: Path) -> None:
    """Each verb without any argument; `prompter` would refuse to ask, and nothing is read from stdin."""
    fill(cli, url, here)
    site = Site(tmp_path)
    site.cli("auth account add ORDERS --defaults", status=0)
    faults = []
    try:
        for path in VERBS:
            if path in RUNNING or is_endless(path):
                continue
            outcome = (site.cli if path.startswith("auth ") else cli)(path)
            errors = [line for line in outcome.err.splitlines() if line.startswith("jsctl: error:")]
            if (
                outcome.status == 64
                and not (len(errors) == 1 and outcome.out == "" and NEEDS.search(errors[0]))
            ) or (outcome.status and outcome.status != 64 and not errors and not outcome.out):
                faults.append(f"{path}: {outcome}")
    finally:
        site.server.stop()
    assert "\n".join(faults) == ""
