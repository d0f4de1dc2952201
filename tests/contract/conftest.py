"""Every output of the contract tests has the form that its schema describes."""

from collections.abc import Iterator

import pytest

from jsctl.env import Env
from tests.support import run, verb_shapes


@pytest.fixture(autouse=True)
def outputs_are_valid(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    faults: list[str] = []

    def observe(env: Env, outcome: run.Outcome) -> None:
        faults.extend(verb_shapes.find_faults(env, outcome))

    monkeypatch.setattr(run, "observers", [observe])
    yield
    assert not faults, "\n".join(faults)
