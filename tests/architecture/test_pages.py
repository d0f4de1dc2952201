"""The README and the manual are true: generated parts are new, `jsctl` lines parse, links lead somewhere."""

import re
import textwrap
from pathlib import Path

import pytest
import yaml

from jsctl import manual, registry
from tests.contract.test_commands import parse
from tests.support.readme import MANUAL, PAGES, README, rendered

EACH = pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])


@EACH
def test_generated_parts_are_new(page: Path) -> None:
    text = page.read_text()
    assert rendered(text) == text, "run python -m tests.support.generate"


@EACH
def test_command_lines_parse(page: Path) -> None:
    for block in re.findall(r"```(?:sh|console)\n(.*?)```", page.read_text(), re.DOTALL):
        for line in block.splitlines():
            if re.match(r"\s*(\$ )?jsctl ", line):
                parse(re.sub(r" @\w+$", "", line.strip().removeprefix("$ ")))  # not the lines of a file


@EACH
def test_python_and_yaml_can_be_read(page: Path) -> None:
    for language, block in re.findall(r"```(python|yaml)\n(.*?)```", page.read_text(), re.DOTALL):
        if language == "python" and page.stem != "contributing":  # whose steps are followed by a test
            compile(textwrap.dedent(block), page.name, "exec")
        if language == "yaml":
            assert yaml.safe_load(block)


@EACH
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.*)", file.read_text(), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def test_topics_are_the_files() -> None:
    assert sorted(manual.TOPICS) == sorted(file.stem for file in MANUAL.glob("*.md"))
    assert manual.TOPICS[-1] == "contributing"


def test_each_topic_begins_with_what_it_is_for() -> None:
    for topic, about in manual.list_topics().items():
        assert re.fullmatch(r"[A-Z][^\n]{20,90}\.", about), topic


def test_each_command_is_in_one_topic() -> None:
    pages = "".join(map(manual.read_topic, manual.TOPICS))
    listed = re.findall(r"^- `jsctl ([^`]+)`.*: ", pages, re.MULTILINE)
    verbs = [path for path, entry in registry.list_commands().items() if entry.runs or not entry.group]
    assert sorted(listed) == sorted(verbs)


def test_the_readme_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 250


def test_there_are_two_commands_to_start_with() -> None:
    start = README.read_text().split("## Start")[1].split("\n## ")[0]
    commands = re.findall(r"```sh\n(.*?)\n```", start, re.DOTALL)
    assert len(commands) == 2
    assert all("\n" not in command for command in commands)
    assert commands[0].endswith("jsctl demo")
    assert commands[1].endswith("pytest")
