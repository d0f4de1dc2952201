"""Secrets: where they must not be shown, stored or left."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.contexts.environment import forget_secrets
from tests.contract.test_commands import NOUNS, of_noun
from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for

SEED = "SUAIBDPBAUTWCWBKIO6XHQNINK5FWJW4OHLXC3HQ2KFE4PEJUA44CNHTC4"  # the example of the nkeys documentation


@pytest.mark.parametrize("flag", ["--nkey", "--creds", "--tlskey"])
@pytest.mark.parametrize("line", ["stream ls", "context add x"])
def test_a_seed_in_place_of_a_path(flag: str, line: str, offline_cli: Cli) -> None:
    outcome = offline_cli([*line.split(), flag, SEED], status=64)
    assert "takes the path of a file" in outcome.err
    assert SEED[:10] not in outcome.err + outcome.out
    assert not list(offline_cli.home.rglob("*.json"))


@pytest.mark.parametrize(
    "line",
    [
        "auth nkey sign /dev/null {}",
        "auth nkey seal /dev/null {} XA",
        "auth nkey unseal {} key XA",
        "auth operator import {}",
        "server check credential --credential {}",
        "stream add S --config {}",
        "apply -f {}",
        "schema validate stream_configuration {}",
        "auth nkey gen user --output /nowhere/{}",
    ],
)
def test_a_seed_in_place_of_any_file(line: str, offline_cli: Cli) -> None:
    outcome = offline_cli(line.format(SEED))
    assert outcome.status
    assert SEED[:10] not in outcome.err + outcome.out


HELD = {
    "url": "nats://u:hunter2@h:4222/?password=hunter2",
    "nkey": SEED,
    "api_key": "hunter2",
    "extra": {"deep": [{"password": "hunter2"}, f"seed {SEED}"], "plain": "shown"},
    "webhook": "https://me:hunter2@example.com/x?token=hunter2&a=b",
}


def test_secrets_of_context_files_are_masked(offline_cli: Cli) -> None:
    folder = offline_cli.home / "nats" / "context"
    folder.mkdir(parents=True)
    (folder / "x.json").write_text(json.dumps(HELD))
    for line in ("info x", "info x --json", "ls", "ls --json", "validate", "validate --json"):
        shown = offline_cli(f"context {line}")
        assert "hunter2" not in shown.out + shown.err
        assert SEED not in shown.out + shown.err
    assert "shown" in offline_cli("context info x", status=0).out
    assert "a=b" in offline_cli("context info x", status=0).out
    assert "hunter2" in offline_cli("context info x --show-secrets", status=0).out
    assert SEED not in offline_cli("stream ls --context x").err


LOGIN = "nats://user:hunter2@127.0.0.1:1"
SKIPPED = frozenset({"shell", "edit", "completion", "demo", "exporter", "manual", "cheat"})
"""Words of commands that start something, or that have no place for an address."""


@pytest.mark.slow
@pytest.mark.parametrize("noun", NOUNS)
def test_an_address_in_place_of_any_argument(
    noun: str, offline_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of an address but host and port is shown, wherever somebody puts it."""
    if noun in SKIPPED:
        return
    monkeypatch.chdir(tmp_path)
    offline_cli.environ["NATS_URL"] = "nats://127.0.0.1:1"  # a server may run at the default address
    for path, entry in of_noun(noun):
        words = path.split()
        if entry.group or SKIPPED & set(words) or path == "server run":  # which runs until it is stopped
            continue
        for line in (
            [*words, LOGIN],
            [*words, "--no-such-flag", LOGIN],
            [*words, "--context", LOGIN],
            [*words, "--js-domain", LOGIN, "--js-api-prefix", LOGIN],
            [*words, "--server", LOGIN.replace("127.0.0.1:1", "127.0.0.1:x")],
            [*words, "--server", LOGIN, "--timeout", "1ms"],
        ):
            outcome = offline_cli(line)
            assert "hunter2" not in outcome.err, (line, outcome.err)
            if outcome.status:
                assert "hunter2" not in outcome.out, (line, outcome.out)


FILES = [
    "context: {}\nstreams: [{{name: A, subjects: [a]}}]\n",
    "streams: [{{name: A, subjects: [a], context: '{}'}}]\n",
    "streams: [{{name: A, subjects: [a], server: '{}'}}]\n",
    "server: {}\nstreams: [{{name: A, subjects: [a]}}]\n",
    "domain: {}\nstreams: [{{name: A, subjects: [a]}}]\n",
    "account: {}\nstreams: [{{name: A, subjects: [a]}}]\n",
    "label: {}\nstreams: [{{name: A, subjects: 7}}]\n",
    "streams: [{{name: A, mirror: 'B@{}'}}]\n",
    "streams: [{{name: A, sources: ['B@{}']}}]\n",
    "streams: [{{name: A, mirror: {{name: B, external: {{api: '{}', deliver: '{}'}}}}}}]\n",
    "streams: [{{name: A, sources: [{{name: B, external: {{api: '{}'}}}}]}}]\n",
    "streams: [{{name: A, subjects: [a], subject_transform: {{src: '{}', dest: '{}'}}}}]\n",
    "streams: [{{name: A, subjects: [a], republish: {{src: '>', dest: '{}'}}}}]\n",
    "streams: [{{name: '{}', subjects: [a]}}]\n",
    "streams: [{{name: A, subjects: [a], max_age: '{}'}}]\n",
    "streams: [{{name: A, subjects: [a], consumers: [{{name: C, deliver_subject: '{}'}}]}}]\n",
    "vars: {{x: '{}'}}\nstreams: [{{name: '{{{{x}}}}', subjects: [a]}}]\n",
    "operators: [{{name: '{}'}}]\n",
    "operators: [{{name: O, accounts: [{{name: A, mappings: {{'{}': [{{subject: '{}'}}]}}}}]}}]\n",
    "operators: [{{name: O, accounts: [{{name: A, imports: [{{account: '{}', subject: '{}'}}]}}]}}]\n",
    "operators: [{{name: O, accounts: [{{name: A, users: [{{name: u, pub: {{allow: ['{}']}}}}]}}]}}]\n",
    "operators: [{{name: A, account_server_url: '{}', operator_service_urls: 7}}]\n",
]


@pytest.mark.parametrize("text", FILES)
@pytest.mark.parametrize(
    "login", [LOGIN, "user:hunter2@127.0.0.1:1", "tls://hunter2@127.0.0.1:1/hunter2?a=hunter2"]
)
def test_an_address_in_a_declared_file(text: str, login: str, offline_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "declared.yaml"
    offline_cli.environ["NATS_URL"] = "nats://127.0.0.1:1"
    file.write_text(text.format(login, login))
    for line in (f"diff -f {file}", f"apply -f {file} --force", f"apply -f {file} --dry-run --json"):
        outcome = offline_cli([*line.split(), "--timeout", "10ms"])
        if outcome.status not in (0, 2):  # names that a file declares are shown
            assert "hunter2" not in outcome.out, line
        assert "hunter2" not in outcome.err, (line, outcome.err)


@pytest.mark.parametrize("variable", ["NATS_URL", "NATS_CONTEXT", "NATS_SOCKS_PROXY"])
def test_an_address_in_a_variable(variable: str, offline_cli: Cli) -> None:
    for line in ("stream ls", "pub a b", "report", "doctor", "server list", "context info", "kv ls"):
        outcome = offline_cli(f"{line} --timeout 10ms", environ={variable: LOGIN})
        assert "hunter2" not in outcome.out + outcome.err, (line, outcome)


def test_variables_that_children_inherit() -> None:
    environ = {
        "NATS_PASSWORD": "p",
        "NATS_USER": "u",
        "NATS_URL": "nats://u:p@h:1",
        "NATS_CREDS": "f",
        "PATH": "/",
    }
    forget_secrets(environ)
    assert environ == {"NATS_URL": "nats://h:1", "NATS_CREDS": "f", "PATH": "/"}


def test_commands_that_run_do_not_inherit_the_login(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    js.publish(url, "s")
    shown = cli("stream view S --translate env", environ={"NATS_PASSWORD": "hunter2"})
    assert "NATS_URL=" in shown.out
    assert "hunter2" not in shown.out
    assert url not in shown.out


def test_a_killed_edit_leaves_nothing(offline_cli: Cli, tmp_path: Path) -> None:
    offline_cli("context add x --server nats://h --user u --password hunter2", status=0)
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/file\nkill -9 $PPID\n')
    editor.chmod(0o755)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    killed = subprocess.run(
        [sys.executable, "-m", "jsctl", "context", "edit", "x"],
        env={**os.environ, **offline_cli.environ, "EDITOR": str(editor), "TMPDIR": str(temporary)},
        check=False,
        capture_output=True,
    )
    assert killed.returncode == -signal.SIGKILL
    wait_for((tmp_path / "file").exists, "the editor has run")
    left = Path((tmp_path / "file").read_text().strip())
    assert left.exists()
    assert not list(temporary.iterdir())
    offline_cli("context edit x", environ={"EDITOR": "true"}, status=0)
    assert not left.parent.exists()
    assert offline_cli("context ls --names", status=0).out == "x\n"
