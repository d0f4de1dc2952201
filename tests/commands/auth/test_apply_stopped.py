"""`apply` of operators that is stopped, or fails, half way."""

import asyncio
from pathlib import Path

import pytest

from jsctl.auth.check import check
from jsctl.auth.declared.execute import execute_auth
from jsctl.auth.declared.load import OperatorReader
from jsctl.auth.declared.plan import AuthStep, make_auth_plan
from jsctl.auth.folders import StoreFolders
from jsctl.jetstream.declared.load import load
from jsctl.jetstream.declared.variables import parse_variables
from tests.commands.auth.test_apply_auth import FILE, Declared
from tests.support.run import Cli


@pytest.fixture
def declared(auth_cli: Cli, tmp_path: Path) -> Declared:
    return Declared(auth_cli, tmp_path)


def test_an_apply_that_is_stopped_ends_between_two_steps(declared: Declared) -> None:
    folders, variables = StoreFolders.below(declared.root), parse_variables(())
    reader = OperatorReader(variables)
    load([(str(declared.file), FILE)], variables, reader)
    plan = make_auth_plan(folders, reader.operators, prune=False)
    done: list[AuthStep] = []

    async def stop_after_two() -> None:
        task = asyncio.current_task()
        assert task

        def advance(_: int) -> None:
            if len(done) == 2:
                task.cancel()

        await execute_auth(folders, reader.operators, plan.steps, done, advance, prune=False)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stop_after_two())
    assert len(done) == 2 and len(plan.steps) == 7
    declared.apply()
    assert check(declared.read()) == []
    assert "Nothing to change" in declared.diff(status=0)


def test_a_failure_says_how_many_steps_were_done(declared: Declared) -> None:
    declared.apply()
    for seed in (declared.root / "keys" / "keys" / "O").rglob("*.nk"):
        seed.unlink()
    declared.replace(("conn: 100", "conn: 50"))
    err = declared.cli(f"apply -f {declared.file} --force", status=None).err
    assert "0 of 1 were done; run apply again to continue" in err
