"""The tests here try every verb of the registry: none is missing."""

from pathlib import Path

from tests.contract.test_commands import VERBS
from tests.fuzz.commands import AGENT_VERBS, NETWORK_VERBS, STARTING_VERBS, lines
from tests.fuzz.record import Record


def test_none_is_missing(tmp_path: Path) -> None:
    groups = {
        "with mutated answers": set(lines(tmp_path)),
        "with states of networks": set(NETWORK_VERBS),
        "with servers that are none": set(STARTING_VERBS),
    }
    assert set().union(*groups.values(), AGENT_VERBS) == set(VERBS)
    assert sum(map(len, groups.values())) + len(AGENT_VERBS) == len(VERBS)
    for name, verbs in groups.items():
        with Record(f"verbs {name}") as record:
            for verb in verbs:
                record.count(verb)
