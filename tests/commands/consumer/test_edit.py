"""`consumer edit` on a real server."""

import json
from pathlib import Path

import pytest

from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--pull", {"ack_policy": "explicit"}),
        ("--pull --ack none", {"ack_policy": "none"}),
        ("--target to.me", {"deliver_subject": "to.me"}),
    ],
)
def test_a_whole_configuration_leaves_the_servers_defaults_out(
    cli: Cli, tmp_path: Path, flags: str, words: dict[str, str]
) -> None:
    cli(f"con add ORDERS W {flags} --defaults", status=0)
    file = tmp_path / "whole.json"
    file.write_text(json.dumps(words))
    same = cli(f"con edit ORDERS W --config {file} --replace --force", status=0)
    assert same.out == "No difference in configuration\n"


def test_edit_changes_what_was_said_and_nothing_else(cli: Cli, pull: None) -> None:
    before = cli("con info ORDERS C --json", status=0).json["config"]
    shown = cli("con edit ORDERS C --max-pending 77 --wait 10s --dry-run", status=2).out
    assert "Changes" in shown.splitlines()[:3]
    assert "ack_wait" in shown and "30s" in shown and "10s" in shown
    assert cli("con info ORDERS C --json", status=0).json["config"] == before
    done = cli("con edit ORDERS C --max-pending 77 --wait 10s", tty=True, answers=[True], status=0)
    assert done.asked == ["Really edit Consumer ORDERS > C"]
    assert "max_ack_pending: 1000 -> 77" in done.err
    assert done.out.startswith("Consumer ORDERS > C was updated\n")
    after = cli("con info ORDERS C --json", status=0).json["config"]
    assert after == {**before, "max_ack_pending": 77, "ack_wait": 10**10}
    assert cli("con edit ORDERS C --max-pending 77", status=0).out == "No difference in configuration\n"


def test_edit_more(cli: Cli, pull: None) -> None:
    def config(line: str) -> dict[str, object]:
        config: dict[str, object] = cli(f"con edit ORDERS C {line} -f --json", status=0).json["config"]
        return config

    assert config("--filter ORDERS.b --filter ORDERS.c")["filter_subjects"] == ["ORDERS.b", "ORDERS.c"]
    assert config("--filter ORDERS.d")["filter_subject"] == "ORDERS.d"
    assert "filter_subject" not in config("--filter ''")
    assert config("--backoff linear --backoff-steps 2 --backoff-min 1s --backoff-max 5s")["backoff"] == [
        10**9,
        3 * 10**9,
    ]
    assert "backoff" not in config("--backoff none")
    assert config("--sample 5")["sample_freq"] == "5"
    assert "sample_freq" not in config("--sample 0")
    assert config("--description new --metadata a=b --headers-only --replicas 1")["headers_only"] is True
    assert "headers_only" not in config("--no-headers-only")
    assert "there is nothing to change" in cli("con edit ORDERS C", status=64).err
    assert "use --force" in cli("con edit ORDERS C --sample 9", status=64).err
    refused = cli("con edit ORDERS C --target push.x -f", status=64)
    assert "is a pull consumer and cannot become a push consumer; jsctl consumer copy --target" in refused.err


def test_edit_by_file(cli: Cli, pull: None, tmp_path: Path) -> None:
    document = tmp_path / "c.json"
    document.write_text(cli("con info ORDERS C --json", status=0).out)
    assert cli(f"con edit ORDERS C --config {document}", status=0).out == "No difference in configuration\n"
    file = tmp_path / "c.yaml"
    file.write_text("filter_subjects: [ORDERS.x, ORDERS.y]\nack_wait: 1m\n")
    config = cli(f"con edit ORDERS C --config {file} -f --json", status=0).json["config"]
    assert config["filter_subjects"] == ["ORDERS.x", "ORDERS.y"]
    assert (config["ack_wait"], config["sample_freq"]) == (60 * 10**9, "50")
    replaced = cli(f"con edit ORDERS C --config {file} --replace -f --json", status=0).json["config"]
    assert "sample_freq" not in replaced


def test_edit_in_the_editor(cli: Cli, pull: None, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i \'s/"sample_freq": "50"/"sample_freq": "60"/\' "$1"\n')
    editor.chmod(0o755)
    environ = {"EDITOR": str(editor)}
    done = cli("con edit ORDERS C -i -f --json", environ=environ, status=0).json
    assert done["config"]["sample_freq"] == "60"


@pytest.mark.parametrize("line", ["con edit ORDERS C -f", "con add ORDERS C", "con add ORDERS C --validate"])
def test_an_unknown_key_is_refused_before_anything_is_sent(
    offline_cli: Cli, tmp_path: Path, line: str
) -> None:
    file = tmp_path / "typo.json"
    file.write_text('{"ack_policy": "explicit", "max_delivery": 5}')
    failed = offline_cli(f"{line} --config {file}", answers=[], status=64)
    assert f"{file}:1: unknown key 'max_delivery' of a consumer; did you mean 'max_deliver'?" in failed.err
    assert failed.asked == []
