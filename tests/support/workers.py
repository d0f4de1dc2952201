"""How many processes run the tests, which of them runs which file, and what they share."""

import contextlib
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from tests.support import spark_home
from tests.support.selection import TESTS

_QUICK = ("unit", "architecture")
"""Folders whose tests take less time than workers need to start."""

_WITH_SPARK = (
    "commands/export",
    "commands/test_import.py",
    "contract/test_file_modes.py",
    "fuzz/test_spark_session.py",
    "scenarios/test_permissions.py",
    "spark/datasource",
    "spark/sink",
    "spark/test_decoding.py",
    "spark/test_registry.py",
    "spark/test_rollup.py",
)
"""Files and folders whose tests use the fixture `spark`; no others may."""

_SPARKS = 2
"""How many workers start a Spark of their own."""


_WITH_TREES = f"{TESTS.name}/architecture/"
_WITHOUT_TREES = ("test_lint.py", "test_contributing.py")
"""Files of that folder that start other programs."""


def _is_with_spark(file: str) -> bool:
    return file.removeprefix(f"{TESTS.name}/").startswith(_WITH_SPARK)


class _Scheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """A file at a time, in the order in which they were collected. Files that share a worker's Spark go to
    two workers, as long as there are others for the rest: each Spark takes half a minute of processor time
    before it is quick. Tests that look at the package's syntax trees share these, in one worker."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        is_sharing = file.startswith(_WITH_TREES) and not file.endswith(_WITHOUT_TREES)
        return _WITH_TREES if is_sharing else file

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        has_spark = node in self.nodes[:_SPARKS]
        suitable = (file for file in self.workqueue if _is_with_spark(file) == has_spark)
        if file := next(suitable, ""):
            self.workqueue.move_to_end(file, last=False)
        super().mark_test_complete(node, item_index, duration)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """How many processes `-n auto` means: five, or none where they would not help. Tests wait for servers
    longer than they compute: five keep two cores busy, three in the fast loop, where each costs its start.

    A file's tests share a worker, so that one file, like the quick folders, runs in this process.
    """
    paths = {config.invocation_params.dir / arg.split("::")[0] for arg in config.args}
    quick = all(any(path.is_relative_to(TESTS / name) for name in _QUICK) for path in paths)
    one_file = len(paths) == 1 and all(path.is_file() for path in paths)
    return 0 if quick or one_file else 3 if config.getoption("--fast") else 5


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> object:
    return _Scheduling(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Start what the workers of a run of all tests wait for; its first files need none of it."""
    is_controller = not hasattr(config, "workerinput") and config.option.numprocesses
    is_whole = config.args == config.getini("testpaths") and not config.option.markexpr
    if is_controller and is_whole and not config.getoption("--fast"):
        make = [sys.executable, "-m", spark_home.__name__, str(config.cache.mkdir("spark"))]
        nowhere = subprocess.DEVNULL
        subprocess.Popen(make, cwd=TESTS.parent, stdin=nowhere, stdout=nowhere, stderr=nowhere)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Make the quick Spark before a test's timeout begins to run: the first time, it takes a minute or more.
    What fails here fails in the test's setup, too."""
    with contextlib.suppress(Exception):
        _use_quick_spark(item)
    return (yield)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if "spark" in getattr(item, "fixturenames", ()) and not _is_with_spark(item.nodeid):
        pytest.fail(f"{item.nodeid} uses `spark`: name its file in _WITH_SPARK of {__name__}", pytrace=False)
    _use_quick_spark(item)


def _use_quick_spark(item: pytest.Item) -> None:
    if item.get_closest_marker("spark"):
        spark_home.use_quick_spark(Path(item.config.cache.mkdir("spark")))
