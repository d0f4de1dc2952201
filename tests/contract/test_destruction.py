"""Every verb that may delete stored messages: nothing goes unasked, what goes beside what the verb is for is
said and needs --allow-data-loss, what is protected stays, and an empty name selects nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from jsctl import registry
from jsctl.commands.cli.global_flags import GlobalOption
from jsctl.registry.model import DESTROYS
from tests.contract.test_commands import VERBS, resolve
from tests.support import js
from tests.support.imports import ROOT
from tests.support.run import Cli
from tests.support.waiting import wait_for

Json = dict[str, Any]


class Case(NamedTuple):
    """A line that deletes messages of a stream. makes: creates what it is about, with this metadata.

    loses: how many messages go beside what the verb is for; 0 if deleting is what it is for. force: the flag
    that answers its question; empty for a verb that asks nobody in a pipe. how: what is said about the
    messages. status: of a refusal.
    """

    line: str
    stream: str
    makes: Callable[[Cli, str, Path, Json], None]
    loses: int = 0
    force: str = "--force"
    how: str = "deletes"
    status: int = 64


def make_stream(cli: Cli, url: str, folder: Path, metadata: Json, **config: Any) -> None:
    js.stream(url, "S", "s.>", metadata=metadata, **config)
    js.publish(url, "s.1", count=3)


def make_interest(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    js.stream(url, "S", "s.>", metadata=metadata, retention="interest")
    cli("consumer add S C --pull --defaults", status=0)
    js.publish(url, "s.1", count=3)


def make_queue(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    make_stream(cli, url, folder, metadata, retention="workqueue")
    (folder / "copy.yaml").write_text("streams: [{name: COPY, sources: [S]}]")


def make_queue_of_a_bucket(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    js.stream(url, "KV_Q", "$KV.Q.>", metadata=metadata, retention="workqueue")
    js.publish(url, "$KV.Q.k", count=3)


def make_origin(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    make_queue(cli, url, folder, metadata)
    js.stream(url, "T", sources=[{"name": "S", "filter_subject": "s.none"}])


def make_bucket(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    js.bucket(url, "B", metadata=metadata, max_msgs_per_subject=3)
    for value in "abc":
        cli(f"kv put B k {value}", status=0)
    (folder / "values.jsonl").write_text(cli("kv export B", status=0).out)


def make_deleted(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    make_bucket(cli, url, folder, metadata)
    js.publish_framed(url, "$KV.B.k", b"NATS/1.0\r\nKV-Operation: DEL\r\n\r\n", b"")


def make_objects(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    words = " ".join(f"--metadata {key}={value}" for key, value in metadata.items())
    cli(f"object add O {words}", status=0)
    for name in ("old", "x"):
        cli(f"object put O - --name {name}", stdin="text", status=0)
    site = folder / "site"
    site.mkdir()
    (site / "x").write_text("other")


def make_old_objects(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    make_objects(cli, url, folder, metadata)
    js.wait_for_age(url, "OBJ_O", 0.2)


def make_schedule(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    js.stream(url, "S", "s.>", metadata=metadata, allow_msg_schedules=True)
    cli("schedule add S s.1 text --after 1h --dest s.2", status=0)


def make_lower(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    """A backup with a lower limit than the stream has."""
    js.stream(url, "S", "s.>", metadata=metadata, max_msgs=1)
    cli(f"account backup {folder / 'backup'}", status=0)
    js.ask(url, "STREAM.UPDATE.S", {"name": "S", "subjects": ["s.>"], "metadata": metadata, "max_msgs": 9})
    js.publish(url, "s.1", count=3)


def make_declared(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    make_stream(cli, url, folder, metadata)
    (folder / "lower.yaml").write_text("streams: [{name: S, max_msgs: 1}]")


def make_backup_of_a_copy(cli: Cli, url: str, folder: Path, metadata: Json) -> None:
    make_queue(cli, url, folder, metadata)
    js.stream(url, "COPY", mirror={"name": "S"})
    wait_for(lambda: js.info(url, "S")["state"]["messages"] == 0, "the mirror has all")
    cli(f"account backup {folder / 'backup'}", status=0)
    cli("stream rm COPY --force", status=0)
    js.publish(url, "s.1", count=3)


CASES: dict[str, Case] = {
    "stream rm": Case("stream rm S", "S", make_stream),
    "stream purge": Case("stream purge S", "S", make_stream),
    "stream rmm": Case("stream rmm S 1", "S", make_stream),
    "stream seal": Case("stream seal S", "S", make_stream),
    "stream edit": Case("stream edit S --max-msgs 1", "S", make_stream, 2),
    "stream add": Case("stream add COPY --mirror S --defaults", "S", make_queue, 3, "", "takes"),
    "stream copy": Case("stream copy T COPY --source S", "S", make_origin, 3, "", "takes"),
    "consumer add": Case(
        "consumer add S C --pull --filter none --update --defaults", "S", make_interest, 3, ""
    ),
    "consumer rm": Case("consumer rm S C", "S", make_interest, 3),
    "consumer reset": Case("consumer reset S C --sequence 3", "S", make_interest, 2),
    "consumer edit": Case("consumer edit S C --filter none", "S", make_interest, 3),
    "kv add": Case("kv add COPY --mirror Q", "KV_Q", make_queue_of_a_bucket, 3, "", "takes"),
    "kv edit": Case("kv edit B --history 1", "KV_B", make_bucket, 2, ""),
    "kv del": Case("kv del B", "KV_B", make_bucket),
    "kv purge": Case("kv purge B k", "KV_B", make_bucket),
    "kv compact": Case("kv compact B --older 1ms", "KV_B", make_deleted),
    "kv import": Case("kv import B {folder}/values.jsonl", "KV_B", make_bucket),
    "object rm": Case("object rm O old", "OBJ_O", make_objects),
    "object put": Case("object put O {folder}/site/x --name old", "OBJ_O", make_objects),
    "object sync": Case("object sync O {folder}/site --up --delete", "OBJ_O", make_objects),
    "object seal": Case("object seal O", "OBJ_O", make_objects),
    "object edit": Case("object edit O --ttl 100ms", "OBJ_O", make_old_objects, 4, ""),
    "schedule rm": Case("schedule rm S s.1", "S", make_schedule),
    "backup restore account": Case("restore {folder}/backup --update-streams", "S", make_lower, 2, status=1),
    "backup restore stream": Case(
        *("backup restore stream {folder}/backup/COPY", "S", make_backup_of_a_copy, 3, "", "takes")
    ),
    "apply": Case("apply -f {folder}/lower.yaml", "S", make_declared, 2, ""),
}

ELSEWHERE = {
    "server account purge": "tests/commands/server/account/test_group.py",
    "server cluster peer-remove": "tests/commands/server/cluster/test_group.py",
    "stream cluster peer-remove": "tests/commands/stream/cluster/test_peer_remove.py",
    "auth account push": "tests/commands/auth/account/test_push.py",
    "diff": "it only shows",
    "redrive": "tests/commands/test_redrive.py",
    "consumer pcgroup create": "tests/commands/consumer/pcgroup/test_create.py",
    "consumer pcgroup rm": "tests/commands/consumer/pcgroup/test_rm.py",
}
"""Verbs that need other servers, and where they are tested."""

OTHERS = {
    "backup prune": "files",
    "server network down": "a network of this machine, with its folder",
    "context rm": "a file",
}
"""What is destroyed is no message, or not known to hold any."""


def test_each_verb_that_may_delete_messages_is_here() -> None:
    paths = set()
    for path in VERBS:
        flags = {flag for param in resolve(path.split()).params for flag in param.opts}
        if {"--unprotect", "--allow-data-loss"} & flags or registry.list_commands()[path].impact == DESTROYS:
            paths.add(path)
    auth = {path for path in paths if path.startswith("auth ")} - ELSEWHERE.keys()
    assert paths - auth - OTHERS.keys() == CASES.keys() | ELSEWHERE.keys()
    assert all((ROOT / path).exists() for path in ELSEWHERE.values() if path.startswith("tests/"))


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    found = CASES[request.param]
    return found._replace(line=found.line.format(folder=tmp_path))


def snapshot(url: str, stream: str) -> Any:
    info = js.info(url, stream)
    state = {key: value for key, value in info["state"].items() if key not in ("consumer_count",)}
    return state, info["config"].get("sealed")


def test_nothing_goes_unasked(case: Case, cli: Cli, url: str, tmp_path: Path) -> None:
    case.makes(cli, url, tmp_path, {})
    before = snapshot(url, case.stream)
    if case.loses:
        refused = cli(f"{case.line} {case.force}", status=case.status)
        said = refused.err + refused.out
        assert f"{case.how} {case.loses} messages" in said and "--allow-data-loss" in said, refused
    else:
        refused = cli(case.line)
        assert refused.status == 64 and case.force in refused.err, refused
    assert snapshot(url, case.stream) == before
    done = cli(f"{case.line} {case.force} {'--allow-data-loss' if case.loses else ''}", status=0)
    lost = [line for line in done.err.splitlines() if f"{case.how} {case.loses} message" in line]
    # A script gets mail of cron when something is lost besides what a verb is for, and only then.
    assert len(lost) == bool(case.loses) and all(line.startswith("[nats://") for line in lost), done
    assert case.loses or not done.err, done


def test_what_is_protected_stays(case: Case, cli: Cli, url: str, tmp_path: Path) -> None:
    case.makes(cli, url, tmp_path, {"jsctl.protect": "true"})
    before = snapshot(url, case.stream)
    line = f"{case.line} {case.force} {'--allow-data-loss' if case.loses else ''}"
    refused = cli(line, status=1)
    assert "is protected" in refused.err + refused.out, refused
    assert snapshot(url, case.stream) == before
    mistaken = cli(f"{line} --unprotect NOPE")
    assert (mistaken.status, "--unprotect NOPE is none of" in mistaken.err) == (64, True), mistaken
    assert snapshot(url, case.stream) == before
    cli(f"{line} --unprotect {case.stream}", status=0)


ENDANGERS: dict[str, Callable[[Cli, str, Path, Json], None]] = {
    "stream edit S --max-age 1h --force": make_stream,
    "stream edit S --config {folder}/sealed.json --force": make_stream,
    "kv edit B --ttl 1h": make_bucket,
    "object edit O --ttl 1h": make_objects,
    "apply -f {folder}/ages.yaml --force": make_stream,
}


@pytest.mark.parametrize("line", ENDANGERS)
def test_what_is_protected_does_not_age_sooner(line: str, cli: Cli, url: str, tmp_path: Path) -> None:
    """What deletes nothing at once needs no permission to delete, but that for a protected stream."""
    (tmp_path / "sealed.json").write_text('{"sealed": true}')
    (tmp_path / "ages.yaml").write_text("streams: [{name: S, max_age: 1h}]")
    ENDANGERS[line](cli, url, tmp_path, {"jsctl.protect": "true"})
    refused = cli(line.format(folder=tmp_path), status=1)
    assert "is protected" in refused.err + refused.out, refused
    (name,) = cli("stream ls --names --all", status=0).out.split()
    cli(f"{line.format(folder=tmp_path)} --unprotect {name}", status=0)


def test_what_expires_within_a_minute_is_said(cli: Cli, url: str, tmp_path: Path) -> None:
    make_stream(cli, url, tmp_path, {})
    refused = cli("stream edit S --max-age 20s --force", status=64)
    assert "this deletes up to 3 messages" in refused.err
    cli("stream edit S --max-age 2h --force", status=0)


NARROWS_NOTHING = {
    "--force",
    "--unprotect",
    *("--ttl", "--body", "--wait", "--var", "--store", "--operator", "--identity"),
    *("--stream", "--publish", "--codec"),
}
"""Options of verbs that destroy which say how it is done, or where."""


def narrows(verb: click.Command, param: click.Parameter, *, destroys: bool) -> bool:
    """Return whether an option may say what goes. destroys: whether that is what the verb is for."""
    if not isinstance(param, click.Option) or isinstance(param, GlobalOption) or param.is_flag:
        return False
    return getattr(param, "selects", False) or (destroys and not NARROWS_NOTHING & {*param.opts})


@pytest.mark.parametrize("path", VERBS)
def test_an_empty_name_selects_nothing(path: str, cli: Cli, url: str) -> None:
    """A script's variable is not set. Each argument in turn, and each option that narrows what goes."""
    verb = resolve(path.split())
    destroys = registry.list_commands()[path].impact == DESTROYS
    arguments = [param for param in verb.params if isinstance(param, click.Argument)]
    lines = [
        [*path.split(), *(["X"] * number), "", "--force"]
        for number, param in enumerate(arguments if destroys else ())
        if isinstance(param.type, click.types.StringParamType)
    ]
    for param in verb.params:
        if narrows(verb, param, destroys=destroys):
            blanks = [""] if isinstance(param.type, click.types.StringParamType) else ["", "0"]
            for blank in blanks:
                lines.append([*path.split(), *(["S"] * len(arguments)), param.opts[0], blank])
    if not lines:
        return
    js.stream(url, "S", "s")
    js.publish(url, "s", count=3)
    for line in lines:
        refused = cli(line)
        assert refused.status == 64, (line, refused)
    assert js.info(url, "S")["state"]["messages"] == 3
