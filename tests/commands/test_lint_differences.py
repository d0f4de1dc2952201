"""`jsctl lint`: what is found for each difference from nats, and where the code has it."""

import re
from pathlib import Path

import pytest

from jsctl.commands.compatibility.differences import DIFFERENCES
from jsctl.commands.compatibility.scripts import check

PACKAGE = Path(__file__).parents[2] / "jsctl"


@pytest.mark.parametrize(
    ("line", "write"),
    [
        ("nats str edit A --config a.json", "jsctl str edit A --config a.json --replace"),
        ("nats con edit A C --config=c.json -f", "jsctl con edit A C --config=c.json -f --replace"),
        ("nats schema validate x x.json", "jsctl compat -- schema validate x x.json"),
        ("nats server ls 3", "jsctl compat -- server ls 3"),
        ("nats server ls", ""),
        ("nats s edit A --dry-run", "jsctl compat -- s edit A --dry-run"),
        ("nats s edit A $FLAGS --max-age 1h", ""),
        ("nats s find --subject 'a.*'", "jsctl compat -- s find --subject 'a.*'"),
        ("nats server req accounts --account A", "jsctl compat -- server req accounts --account A"),
        ("nats micro ls", "jsctl compat -- micro ls"),
        ("nats server report connz --account A", "jsctl compat -- server report connz --account A"),
        ("nats server report connz", ""),
        ("nats context show x --connect", "jsctl compat -- context show x --connect"),
        ("nats context show x", ""),
        ("nats account backup x -f", "jsctl compat -- account backup x -f"),
        (
            "nats sub --stream A --last --start-sequence=4",
            "jsctl compat -- sub --stream A --last --start-sequence=4",
        ),
        ("nats sub --stream A --last", ""),
        ("nats reply a b --echo", "jsctl compat -- reply a b --echo"),
        ("nats reply --echo a", ""),
        (
            "nats con add A C --wait 1s --backoff x --update",
            "jsctl compat -- con add A C --wait 1s --backoff x --update",
        ),
        ("nats str edit A --config a.json --replace", ""),
        ("nats con copy A C C", "jsctl compat -- con copy A C C"),
        ("nats pub 'a.*' x", "jsctl compat -- pub 'a.*' x"),
        ("nats req 'a.>' x | head", "jsctl compat -- req 'a.>' x"),
        ("nats pub a* x", ""),
        ("nats pub a x --schedule-dest b", "jsctl compat -- pub a x --schedule-dest b"),
        ("nats pub a x --schedule-dest b --schedule-after 1s", ""),
        ("nats kv add C --history=65", "jsctl compat -- kv add C --history=65"),
        ("nats kv add C --history 64", ""),
        ("nats pub a '{{printf 1}}'", "jsctl pub a '{{printf 1}}'  # what the shell makes of it"),
        ("nats pub a '{{printf 1}}' --no-templates", ""),
        ("nats pub a '{{Count}} {{.ID}}'", ""),
        ("nats reply a '{{0}} {{Request}}'", ""),
        ("nats server check stream --stream A --peer-expect 3", ""),
        ("nats bench js pub batch a --purge", "jsctl bench js pub batch a --purge --force"),
        ("nats bench kv put", ""),
        ("nats server config reload X -f", "jsctl compat -- server config reload X -f"),
    ],
)
def test_lines_with_another_outcome(line: str, write: str) -> None:
    assert [one.write for one in check(line)[0]] == ([write] if write else [])


def test_lines_that_cannot_have_the_outcome_of_nats_stay_as_they_are() -> None:
    script = """\
nats pub a '{{if eq 1 1}}x{{end}}'
nats server check credential --credential app.creds
nats schema validate stream_configuration a.json | cat
"""
    found, changed = check(script)
    assert [one.code for one in found] == ["GO_TEMPLATES", "CHECK_OUTCOME", "SCHEMA_REQUIRED"]
    assert changed == script


def test_each_difference_is_made_where_its_code_stands() -> None:
    """The codes of the table are those of the places where jsctl differs, or takes the side of nats."""
    places: dict[str, int] = {}
    for file in PACKAGE.rglob("*.py"):
        for line in file.read_text().splitlines():
            if found := re.search(r"# ([A-Z]+_[A-Z]+)$", line):
                places[found[1]] = places.get(found[1], 0) + 1
    assert DIFFERENCES.keys() == {code for code in places if code in DIFFERENCES}
