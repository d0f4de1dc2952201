"""`apply` of operators that is stopped, or fails, half way."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.auth.check import check
from jsctl.auth.declared.execute import execute_auth
from jsctl.auth.declared.load import OperatorReader
from jsctl.auth.declared.plan import AuthStep, make_auth_plan
from jsctl.auth.folders import StoreFolders
from jsctl.jetstream.declared.load import load
from jsctl.jetstream.declared.variables import parse_variables
from tests.commands.auth import test_apply_push as push
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


@pytest.fixture
def site(tmp_path: Path) -> Iterator[push.Declared]:
    site = push.Declared(tmp_path)
    yield site
    site.server.stop()


INTERRUPTED = """
import os, signal, sys
from jsctl.app import main
from jsctl.auth.declared import execute

def remove_and_interrupt(store, account):
    remove(store, account)
    os.kill(os.getpid(), signal.SIGINT)

remove, execute.remove_account = execute.remove_account, remove_and_interrupt
sys.argv[0] = "jsctl"
main()
"""


def test_pruning_that_is_interrupted_ends_between_two_accounts(site: push.Declared) -> None:
    site.replace("  - name: SHOP", "  - name: KIOSK\n      - name: SHOP")
    site.run("apply", "--force")
    kiosk, shop = (site.store.read_account(name).public for name in ("KIOSK", "SHOP"))
    site.file.write_text(push.NO_SHOP)
    line = [sys.executable, "-c", INTERRUPTED, *f"apply -f {site.file} --push --prune --force".split()]
    environ = {**os.environ, **site.cli.environ}
    ended = subprocess.run(line, check=False, capture_output=True, text=True, env=environ)
    assert ended.returncode == 130, ended.stderr
    done = (
        "1 of 2 were done; accounts were removed from the servers: KIOSK, SHOP; run apply again to continue"
    )
    assert done in ended.stderr
    left = {"KIOSK", "SHOP"} & set(site.store.list_account_names())
    assert len(left) == 1, "one of two was removed"
    site.run("apply", "--push --prune --force")
    assert not {"KIOSK", "SHOP"} & set(site.store.list_account_names())
    there = site.cli("auth account push --all --diff --operator ACME", status=0).out
    assert kiosk not in there and shop not in there
    site.run("diff", "--prune")


def test_an_account_that_a_server_does_not_take(site: push.Declared) -> None:
    site.server.stop()
    config = site.server.config.read_text()
    assert "limit: 1000" in config
    site.server.config.write_text(config.replace("limit: 1000", "limit: 2"))
    site.server.start()
    err = site.run("apply", "--force", status=1)
    assert "4 of 4 were done; accounts were sent to the servers: SALES; run apply again to continue" in err
    assert "account SHOP did not reach server n1" in err and "auth account push SHOP --diff" in err
