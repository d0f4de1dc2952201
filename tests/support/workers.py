"""How many processes run the tests, which of them runs which file, and what they share."""

import contextlib
import functools
import re
import subprocess
import sys
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from jsctl.base import posix
from tests.support import spark_home
from tests.support.selection import TESTS

_QUICK = ("unit", "architecture")
"""Folders whose tests take less time than workers need to start."""

_WITH_SPARK = re.compile(r"\b(spark: Any|lake: Lake)\b")
"""What files have whose tests use the fixture `spark`."""

_SPARKS = 2
"""How many workers start a Spark of their own."""


_WITH_TREES = f"{TESTS.name}/architecture/"
_WITHOUT_TREES = ("test_lint.py", "test_contributing.py")
"""Files of that folder that start other programs."""


_COMPILED = "jsctl/compiled"
"""What pytest's cache says when all tests have been imported once."""


@functools.cache
def _is_with_spark(file: str) -> bool:
    path = TESTS.parent / file
    return path.is_file() and bool(_WITH_SPARK.search(path.read_text(encoding="utf-8")))


class _Scheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """A file at a time, in the order in which they were collected. Files that share a worker's Spark go to
    two workers, as long as there are others for the rest: each Spark takes half a minute of processor time
    before it is quick. Tests that look at the package's syntax trees share these, in one worker."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        is_sharing = file.startswith(_WITH_TREES) and not file.endswith(_WITHOUT_TREES)
        return _WITH_TREES if is_sharing else file

    def _assign_work_unit(self, node: WorkerController) -> None:
        has_begun = bool(self.assigned_work[node])  # what needs no Spark comes first, while one is made
        takes_spark = has_begun and node in self.nodes[:_SPARKS]
        suitable = (file for file in self.workqueue if _is_with_spark(file) == takes_spark)
        if file := next(suitable, ""):
            self.workqueue.move_to_end(file, last=False)
        super()._assign_work_unit(node)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """How many processes `-n auto` means: five, or none where they would not help. Tests wait for servers
    longer than they compute: five keep two cores busy, four in the fast loop, where each costs its start.

    A file's tests share a worker, so that one file, like the quick folders, runs in this process.
    """
    paths = {config.invocation_params.dir / arg.split("::")[0] for arg in config.args}
    quick = all(any(path.is_relative_to(TESTS / name) for name in _QUICK) for path in paths)
    one_file = len(paths) == 1 and all(path.is_file() for path in paths)
    return 0 if quick or one_file else 4 if config.getoption("fast") else 5


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> object:
    return _Scheduling(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Start what the workers of a run of all tests wait for; its first files need none of it."""
    is_controller = not hasattr(config, "workerinput") and config.option.numprocesses
    is_whole = config.args == config.getini("testpaths") and not config.option.markexpr
    if is_controller and is_whole and not config.getoption("fast"):
        make = [sys.executable, "-m", spark_home.__name__, str(config.cache.mkdir("spark"))]
        nowhere = subprocess.DEVNULL
        subprocess.Popen(make, cwd=TESTS.parent, stdin=nowhere, stdout=nowhere, stderr=nowhere)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """In a new clone, one worker compiles the tests while the others wait: then these read what it wrote."""
    cache = getattr(session.config, "cache", None)
    if cache and hasattr(session.config, "workerinput") and not cache.get(_COMPILED, False):
        with (cache.mkdir("tests") / "lock").open("w") as lock:
            posix.lock(lock)
            if not cache.get(_COMPILED, False):
                result = yield
                cache.set(_COMPILED, True)
                return result
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Make the quick Spark before a test's timeout begins to run: the first time, it takes a minute or more.
    What fails here fails in the test's setup, too."""
    with contextlib.suppress(Exception, pytest.skip.Exception):
        _use_quick_spark(item)
    return (yield)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if "spark" in getattr(item, "fixturenames", ()) and not _is_with_spark(item.nodeid.split("::")[0]):
        pytest.fail(f"{item.nodeid} uses `spark`, and not as _WITH_SPARK of {__name__} says", pytrace=False)
    _use_quick_spark(item)


def _use_quick_spark(item: pytest.Item) -> None:
    if item.get_closest_marker("spark"):
        if not find_spec("pyspark"):
            pytest.skip("needs pyspark, of the extra dev-all")
        spark_home.use_quick_spark(Path(item.config.cache.mkdir("spark")))
