"""What scripts read with --json has the keys and types of `nats`, on real servers.

`json_shapes.txt` holds them as facts: neither `nats` nor Go is needed here.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.waiting import wait_for

FACTS = Path(__file__).with_name("json_shapes.txt")
SETUP = """\
stream add ORDERS --subjects ORDERS.> --defaults
stream add HITS --subjects hits.> --allow-counter --allow-direct --defaults
stream add COPY --mirror ORDERS --defaults
stream add ALL --source ORDERS --defaults
consumer add ORDERS NEW --pull --defaults
pub ORDERS.1 one -J
pub ORDERS.2 two -J
pub ORDERS.3 three -J
stream rmm ORDERS 2 --force
consumer next ORDERS NEW --ack
kv add CONFIG
kv put CONFIG ready yes
counter increment hits.a 5
"""


def read_facts() -> dict[tuple[str, str], dict[str, set[str]]]:
    """Return the types by path, by login and command line."""
    facts: dict[tuple[str, str], dict[str, set[str]]] = {}
    paths: dict[str, set[str]] = {}
    for line in FACTS.read_text().splitlines():
        if line.startswith("  "):
            path, types = line.strip().rsplit(" ", 1)
            paths[path] = set(types.split("|"))
        elif not line.startswith(("#", "= ", "- ")):
            login, _, command = line.partition(": ")
            paths = facts.setdefault((login, command), {})
    return facts


def list_types(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and type of a value and of all within it."""
    names = {bool: "bool", int: "number", float: "number", str: "text", list: "list", dict: "object"}
    yield path or ".", names.get(type(value), "null")
    if isinstance(value, dict):
        for key, item in value.items():
            yield from list_types(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from list_types(item, f"{path}[]")
            if path.endswith("perf_data"):  # each number of a check has a name of its own
                yield f"{path}[{item['name']}]", "object"


def find_differences(document: Any, expected: dict[str, set[str]]) -> list[str]:
    types: dict[str, set[str]] = {}
    for path, name in list_types(document):
        types.setdefault(path, set()).add(name)
    return [
        f"{path}: {'|'.join(sorted(types.get(path, {'missing'})))}, expected {'|'.join(sorted(names))}"
        for path, names in expected.items()
        if not names & types.get(path, set())
    ]


def test_a_missing_key_and_another_type_are_differences() -> None:
    expected = {".": {"object"}, ".a": {"number"}, ".b[].c": {"text"}}
    assert find_differences({"a": 1, "b": [{}, {"c": "x"}]}, expected) == []
    assert find_differences({"a": "1", "b": []}, expected) == [
        ".a: text, expected number",
        ".b[].c: missing, expected text",
    ]


@pytest.mark.slow
def test_json_has_the_shapes_of_nats(hub_cli: Cli, hub_leaf: HubLeaf, tmp_path: Path) -> None:
    system, archive = Cli(tmp_path / "system", hub_leaf.system_url), tmp_path / "audit.zip"
    logins = {"system": system, "account": hub_cli, "offline": Cli(tmp_path / "offline")}
    hub_cli("context add here --description Here", status=0)
    for line in SETUP.splitlines():
        hub_cli(line, status=0)
    service = hub_cli.start(["service", "serve", "far"], stdout=None, stderr=subprocess.DEVNULL)
    subscriber = hub_cli.start(["sub", "shapes.>"], stdout=None, stderr=subprocess.DEVNULL)
    differences = []
    try:
        wait_for(lambda: hub_cli("service list far").status == 0, "the service")
        wait_for(
            lambda: "shapes.>" in system("server report connections --json", status=0).out, "the subscriber"
        )
        system(f"audit gather --output {archive} --no-server-profiles", status=0)
        for (login, command), expected in read_facts().items():
            line = command.replace("{archive}", str(archive))
            is_check = line.startswith("server check")
            flagged = line.replace("check", "check --format json", 1) if is_check else f"{line} --json"
            outcome = logins[login](flagged)
            assert outcome.status == 0 or is_check, f"{line}: {outcome}"
            differences += [f"{line}: {text}" for text in find_differences(json.loads(outcome.out), expected)]
    finally:
        for running in (service, subscriber):
            running.terminate()
            running.wait()
    assert not differences, "\n".join(differences)


def test_every_fact_is_about_another_line() -> None:
    lines = [line for line in FACTS.read_text().splitlines() if re.match(r"[a-z]+: ", line)]
    assert len(lines) == len(set(lines)) == len(read_facts()) > 40
