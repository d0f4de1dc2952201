"""`server generate`: configurations that a real server takes."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.run import Cli
from tests.support.servers import binary


def check(config: Path) -> None:
    """Have nats-server read a configuration."""
    done = subprocess.run([binary(), "-t", "-c", str(config)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_leaf_node(offline_cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "leaf"
    line = f"server generate {target} --source leaf --set jetstream=yes --set port=7422"
    result = offline_cli(f"{line} --json", status=0).json
    assert result == {"template": "leaf", "target": str(target), "files": ["leafnode.conf"]}
    check(target / "leafnode.conf")
    assert "7422" in (target / "leafnode.conf").read_text()
    assert "exists already" in offline_cli(line, status=64).err


def test_clusters(offline_cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "clusters"
    offline_cli(f"server gen {target} --source compose --set clusters=2 --set members=1", status=0)
    compose = yaml.safe_load((target / "docker-compose.yaml").read_text())
    assert set(compose["services"]) == {"n1.c1", "n1.c2"}
    check(target / "n1.c2.conf")
    context = json.loads((target / "contexts" / "c2-system.json").read_text())
    assert context["url"] == "nats://127.0.0.1:10100"


def test_questions(offline_cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "leaf"
    answers = ["leaf", "edge", ..., "/etc/edge.creds", ..., ..., False]
    asked = offline_cli(f"server generate {target}", answers=answers, status=0).asked
    assert asked[0] == "Select a Template" and asked[-1] == "Enable JetStream?"
    text = (target / "leafnode.conf").read_text()
    assert 'server_name: "edge"' in text and "/etc/edge.creds" in text and "jetstream" not in text


def test_servers_of_an_operator(offline_cli: Cli, tmp_path: Path) -> None:
    line = f"server generate {tmp_path}/server --source operator"
    assert "there is no operator" in offline_cli(line, status=3).err
    offline_cli("auth operator add OP", status=0)
    offline_cli(f"{line} --set store_dir={tmp_path}/js --set resolver_dir={tmp_path}/jwt", status=0)
    check(tmp_path / "server" / "server.conf")
    offline_cli(f"server generate {tmp_path}/values --source kubernetes --set jetstream=no", status=0)
    values = yaml.safe_load((tmp_path / "values" / "values.yaml").read_text())
    system = values["config"]["merge"]["system_account"]
    assert list(values["config"]["merge"]["resolver_preload"]) == [system]
    assert "jetstream" not in values["config"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("", "give --source"),
        ("--source none", "there is no template 'none'"),
        ("--source leaf --set port", "write KEY=VALUE"),
        ("--source leaf --set none=1", "has no value 'none'"),
        ("--source leaf --set port=x", "port cannot be 'x'"),
    ],
)
def test_wrong_flags(offline_cli: Cli, tmp_path: Path, flags: str, words: str) -> None:
    outcome = offline_cli(f"server generate {tmp_path}/none {flags}", status=64)
    assert words in outcome.err and len(outcome.err.splitlines()) == 1
    assert not (tmp_path / "none").exists()


def test_what_is_next_names_the_folder(offline_cli: Cli, tmp_path: Path) -> None:
    out = offline_cli(
        ["server", "generate", str(tmp_path / "a leaf"), "--source", "leaf", "--defaults"], status=0
    ).out
    assert f"cd '{tmp_path / 'a leaf'}' && nats-server --config leafnode.conf" in " ".join(out.split())
