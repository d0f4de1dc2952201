"""A key that a newer server adds to configurations is one `Field`: flag, file, question, info page, schema
and the shape of answers come from it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import js
from tests.support.readme import find_example
from tests.support.run import Cli

PACKAGE = Path(__file__).parents[2] / "jsctl"

# Adds two keys to the fields of streams, as their declarations would, before anything reads them.
WITH_FIELD = f"""
import sys
from jsctl.jetstream.config.field import Field, FieldQuestion
from jsctl.jetstream.config.kinds import Switch
from jsctl.jetstream.config.numbers import Duration
from jsctl.jetstream.config import stream_fields as fields
fields.FIELDS += (
    Field("max_idle", Duration(), help="Longest idle time", label="Maximum Idle Time",
          default=3_600_000_000_000, question=FieldQuestion("Idle time")),
    {find_example("allow_foo")},
)
"""
RUN = "sys.argv = ['jsctl', *sys.argv[1:]]\nfrom jsctl.app import main\nsys.exit(main())\n"
INFO_PAGE = """
import json
from jsctl.views.stream.info import info_page
[part] = info_page(json.loads(sys.argv[1])).parts
fields = [field for section in part.sections for field in section.fields]
print([field.value for field in fields if field.label == "Maximum Idle Time"])
"""
ASKED = """
import asyncio
from jsctl.prompts.prompter import ScriptedPrompter
from jsctl.prompts.stream import ask_rest
print(asyncio.run(ask_rest(ScriptedPrompter({"Idle time": "5m"}), {}))["max_idle"])
"""
ADDED = """
import json, pathlib
from tests.support.run import Cli
cli = Cli(pathlib.Path(sys.argv[1]))
cli.environ["NATS_URL"] = sys.argv[2]
done = cli("stream add S --subjects s " + sys.argv[3], tty=True, answers=json.loads(sys.argv[4]))
print(done.err)
sys.exit(done.status)
"""
CHECKED = """
from jsctl.jetstream.shapes import check_answer
import json
check_answer(json.loads(sys.argv[1]), "$JS.API.STREAM.INFO.S")
"""


def run(code: str, *args: str, status: int = 0) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", WITH_FIELD + code, *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=PACKAGE.parent,
    )
    assert ended.returncode == status, ended
    return ended.stdout + ended.stderr


@pytest.fixture
def info(cli: Cli, url: str) -> dict[str, Any]:
    """A server's answer, with the new key."""
    js.stream(url, "S", "s")
    answer = js.ask(url, "STREAM.INFO.S")
    return {**answer, "config": {**answer["config"], "max_idle": 60_000_000_000}}


@pytest.mark.slow
def test_its_flag_and_its_key_in_files_are_read(tmp_path: Path) -> None:
    shown = run(RUN, "stream", "add", "--help", "--all")
    assert "--max-idle DURATION" in shown.partition("Other settings:\n")[2].partition("\n\n")[0]
    line = ["stream", "add", "S", "--subjects", "s", "--defaults", "--output", "-"]
    assert json.loads(run(RUN, *line, "--max-idle", "1m"))["max_idle"] == 60_000_000_000
    file = tmp_path / "s.yaml"
    file.write_text("name: S\nsubjects: [s]\nmax_idle: 1m\n")
    assert json.loads(run(RUN, *line, "--config", str(file)))["max_idle"] == 60_000_000_000
    file.write_text("name: S\nsubjects: [s]\nmax_idle: often\n")
    assert "max_idle" in run(RUN, *line, "--config", str(file), status=64)


def test_it_is_asked_for() -> None:
    assert run(ASKED) == "300000000000\n"


@pytest.mark.slow
def test_a_default_is_not_sent_to_a_server_that_lacks_the_key(url: str, tmp_path: Path) -> None:
    """A server of today refuses keys that it does not know (10025)."""
    run(ADDED, str(tmp_path), url, "", "{}")
    config = js.info(url, "S")["config"]
    assert "max_idle" not in config and "allow_foo" not in config
    js.ask(url, "STREAM.DELETE.S")
    run(ADDED, str(tmp_path), url, "--defaults", "{}")
    js.ask(url, "STREAM.DELETE.S")
    for flags, answers in (
        ("", {"Idle time": "5m"}),
        ("", {"Allow foo": True}),
        ("--max-idle 1h --defaults", {}),
        ("--allow-foo --defaults", {}),
    ):
        assert "(10025)" in run(ADDED, str(tmp_path), url, flags, json.dumps(answers), status=1)
    assert js.ask(url, "STREAM.NAMES")["streams"] is None


def test_the_info_page_shows_it(info: dict[str, Any]) -> None:
    assert run(INFO_PAGE, json.dumps(info)) == "[60000000000]\n"


def test_the_schema_has_it() -> None:
    schema = json.loads(run(RUN, "schema", "info", "stream_configuration", "--json"))
    assert schema["properties"]["max_idle"]["description"] == "Longest idle time"
    assert schema["properties"]["max_idle"]["type"] == "integer"


def test_answers_with_another_type_are_refused(info: dict[str, Any]) -> None:
    assert run(CHECKED, json.dumps(info)) == ""
    info["config"]["max_idle"] = "often"
    assert "config.max_idle" in run(CHECKED, json.dumps(info), status=1)


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.yaml")), ids=lambda file: file.name)
def test_both_loaders_read_every_file(file: Path) -> None:
    """PyYAML has libyaml's loader on most machines, and only its own on some."""
    text = file.read_text()
    loaders = [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)]
    plain, fast = (yaml.load(text, Loader=loader) for loader in loaders)
    assert plain == fast
