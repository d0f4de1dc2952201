"""With --json, a failure is one JSON object on stderr: what is wrong, codes, the exit status, what to do."""

import json
from typing import Any

import pytest

from tests.contract.test_commands import VERBS
from tests.fuzz.commands import is_endless, lines, prepare, without_spark
from tests.support import js
from tests.support.run import Cli, Outcome

KEYS = ["error", "code", "err_code", "status", "hint"]


def failure(outcome: Outcome) -> dict[str, Any]:
    """Return the object of a failure, after checking its form."""
    assert outcome.status and outcome.out == "" and outcome.err.count("\n") == 1, outcome
    document: dict[str, Any] = json.loads(outcome.err)
    assert list(document) == KEYS and document["status"] == outcome.status and document["error"], document
    return document


def test_of_the_server(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>")
    missing = failure(cli("stream info NOPE --json"))
    assert (missing["code"], missing["err_code"], missing["status"]) == (404, 10059, 3)
    assert "jsctl stream ls" in missing["hint"]
    refused = failure(cli("stream add T --subjects s.a --defaults --json"))
    assert (refused["code"], refused["err_code"], refused["status"]) == (400, 10065, 1)
    assert "subjects overlap" in refused["error"] and "10065" not in refused["error"]


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("stream info S --json --nope", 64),
        ("stream nope --json", 64),
        ("stream --json", 64),
        ("nope --json", 64),
        ("--json", 64),
        ("stream info S --as json --nope", 64),
        ("stream info S --as=json --timeout nope", 64),
        ("stream info S --as=yaml --nope", 64),
        ("stream nope --as yaml", 64),
        ("context info nope --as yaml", 3),
        ("context info nope -j", 3),
        ("stream ls --server nats://127.0.0.1:1 --json", 4),
        ("pub --json", 64),
    ],
)
def test_of_the_command_line(line: str, status: int, offline_cli: Cli) -> None:
    document = failure(offline_cli(line))
    assert (document["code"], document["err_code"], document["status"]) == (None, None, status)
    assert failure(offline_cli(line)) == document and document["hint"]


@pytest.mark.parametrize("line", ["context info -- --json", "context info nope --as csv"])
def test_without_json_it_is_a_line(line: str, offline_cli: Cli) -> None:
    assert offline_cli(line, status=3).err.startswith("jsctl: error: ")


@pytest.mark.slow
def test_of_every_verb(cli: Cli, url: str, offline_cli: Cli, tmp_path: Any, monkeypatch: Any) -> None:
    """Without a server, each verb that needs one fails in this form."""
    monkeypatch.chdir(tmp_path)
    prepare(cli, url, tmp_path)
    known: dict[str, Any] = lines(tmp_path)
    failed = 0
    with without_spark():
        for path in VERBS:
            if path not in known or is_endless(path):
                continue
            outcome = offline_cli([*known[path], "--server", "nats://127.0.0.1:1", "--json"])
            if outcome.status and not outcome.out:
                last = outcome.err.splitlines()[-1]
                assert list(json.loads(last)) == KEYS, (path, outcome)
                failed += 1
    assert failed > 100
