"""Numbers of twenty digits and more for each flag and argument of each verb that takes one."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.contract.test_commands import VERBS, resolve
from tests.fuzz.commands import is_endless, lines, prepare, without_spark
from tests.fuzz.record import Record, cases
from tests.fuzz.test_answers import run
from tests.support.run import Cli

NUMBERS = ("9" * 20, "9" * 5000, "-" + "9" * 20, "1e400", "0x10", "９", "nan", "-0", "")


def flags() -> Iterator[tuple[str, str]]:
    """Every verb with each flag of it whose value may be a number: no text and no choice."""
    for path in VERBS:
        for param in resolve(path.split()).params:
            if not isinstance(param, click.Option) or param.is_flag:
                continue
            if not isinstance(param.type, click.types.StringParamType | click.Choice | click.Path):
                yield path, param.opts[0]


@pytest.mark.slow
def test_numbers(
    cli: Cli, url: str, offline_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare(cli, url, tmp_path)
    known = lines(tmp_path)
    faults = []
    with without_spark(), Record("numbers of flags") as record:
        for number, (path, flag) in enumerate(flags()):
            if path not in known or path.startswith("bench"):
                continue
            for at in range(min(cases(1), len(NUMBERS))):
                text = NUMBERS[(number + at) % len(NUMBERS)] if cases(1) > 1 else NUMBERS[number % 2]
                try:
                    run(
                        offline_cli,
                        None,
                        [*known[path], f"{flag}={text}"],
                        record,
                        endless=is_endless(path),
                        url=url,
                    )
                except AssertionError as fault:
                    faults.append(f"{flag}={text[:30]}: {str(fault)[:900]}")
    assert not faults, "\n".join(faults)
