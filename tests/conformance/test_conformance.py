"""Lines of public documents in `nats`, and in jsctl, which takes its place: each has the same status and the
same effects, or says in lines.txt why not.

JSCTL_CONFORMANCE_NATS names the binary. With JSCTL_GOLDEN=write the run writes results.txt, from which the
table of the manual is made.
"""

import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from tests.conformance.comparing import Line, Place, Seen, compare_output, list_differences, read_lines
from tests.conformance.results import FILE, format_result
from tests.support.generated import is_writing, rewrite
from tests.support.servers import AccountServers

NATS = os.environ.get("JSCTL_CONFORMANCE_NATS", "")


def compare(line: Line, theirs: Seen, ours: Seen, known: list[str]) -> Iterator[str]:
    """Yield what is wrong with a line. known: in what effects of lines before it differ."""
    found = [one for one in list_differences(theirs.effects, ours.effects) if one not in known]
    if (theirs.status != ours.status or found) and not line.why:
        yield f"{line.text}: status {theirs.status}, {ours.status}; effects {found}"
    elif line.why and theirs.status == ours.status and not found:
        yield f"{line.text} has no other outcome"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not NATS, reason="JSCTL_CONFORMANCE_NATS names no nats")
def test_lines_have_the_outcome_of_nats(
    account_servers: AccountServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    faults, results = list[str](), list[str]()
    for topic, group in groupby(read_lines(), lambda line: line.topic):
        lines, seen = list(group), list[list[Seen]]()
        for name, binary in (("nats", NATS), ("jsctl", "")):
            place = Place(tmp_path / topic / name, account_servers.new_account(), binary)
            seen.append([place.run(line) for line in lines])
        known: list[str] = []
        for line, theirs, ours in zip(lines, *seen, strict=True):
            faults += compare(line, theirs, ours, known)
            known = list(list_differences(theirs.effects, ours.effects))
            results.append(format_result(line, compare_output(theirs.out, ours.out)))
    assert not faults, "\n".join(faults)
    if is_writing():
        rewrite(FILE, lambda _: "".join(results))
    assert FILE.read_text() == "".join(results), "JSCTL_GOLDEN=write writes them"


def test_there_are_at_least_200_lines() -> None:
    lines = list(read_lines())
    assert len(lines) >= 200 and len(FILE.read_text().splitlines()) == len(lines)
