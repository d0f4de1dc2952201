"""Which tests run, and in which order: `--fast`, `--long` and `--fuzz`."""

import functools
import gc
import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

TESTS = Path(__file__).parents[1]

_LONG = {"long", "cluster"}
"""Marks of what kills, makes faults, starts clusters or walks demos: it needs `--long`, or a file's name."""

_NOT_FAST = _LONG | {"slow", "spark"}
"""Marks that `--fast` leaves out. Contracts hold in all runs: of these, `slow` ones are fast, too."""

_WHOLE = ("contract", "unit", "architecture")
"""Folders of which `--fast` has all tests. Of each file of `commands`, it has the first, which says what a
verb is for."""

_ORDER = (
    "spark/test_chaos.py",
    # While the quick Spark is made, what needs none.
    "scenarios/test_watched_network.py",
    "jetstream/backup/test_copy_resumed.py",
    "commands/demo/test_walk.py",
    "architecture/test_lint.py",
    "commands/test_doctor_cluster.py",
    "jetstream/backup",
    "spark/session",
    "commands/export",
    "commands/test_import.py",
    "fuzz/test_spark_session.py",
    "spark/test_pipeline.py",
    "packaging/test_readme.py",
    "commands/demo",
    "spark",
    "scenarios",
    "jetstream",
    "commands/server",
    "commands",
    "nats",
    "fuzz",
    "contract",
)
"""Files and folders by how long they take."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long",
        action="store_true",
        help="with the tests that kill, make faults, start clusters or walk demos",
    )
    parser.addoption(
        "--fast",
        action="store_true",
        help="every contract, one case of each unit test, and a test of each file of verbs",
    )
    parser.addoption("--fuzz", type=float, metavar="N", help="try N times as many cases in tests/fuzz")


def pytest_configure(config: pytest.Config) -> None:
    if times := config.getoption("--fuzz"):
        os.environ["JSCTL_FUZZ"] = str(times)  # workers inherit it


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import what `--fast` leaves out as a whole."""
    if not config.getoption("--fast") or not collection_path.is_relative_to(TESTS):
        return None
    if collection_path.parent == TESTS and collection_path.is_dir():
        is_asked_for = config.args != config.getini("testpaths")
        return None if is_asked_for or collection_path.name in (*_WHOLE, "commands") else True
    if not collection_path.match("test_*.py") or _is_contract(collection_path):
        return None
    of_all = re.search(r"^pytestmark = .*", collection_path.read_text(), re.MULTILINE)
    return True if of_all and re.search(rf"mark\.({'|'.join(sorted(_NOT_FAST))})\b", of_all[0]) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests live to the end: no collection of garbage looks at them, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the slow ones first: workers, which take a file at a time, then end at about the same time. Leave
    out the long ones, unless these are asked for, or a file is."""
    is_file_named = any("::" in arg or arg.endswith(".py") for arg in config.args)
    if not config.getoption("--long") and not is_file_named:
        long = [item for item in items if not _LONG.isdisjoint(_list_marks(item))]
        config.hook.pytest_deselected(items=long)
        left_out = set(long)
        items[:] = [item for item in items if item not in left_out]
    order: tuple[str, ...] = _ORDER
    if config.getoption("--fast"):
        order = ("contract", *_ORDER)
        items[:] = _select_fast(items)
    folders = [TESTS / path for path in order]

    @functools.cache
    def place(file: Path) -> int:
        return next((at for at, path in enumerate(folders) if file.is_relative_to(path)), len(folders))

    items.sort(key=lambda item: place(item.path))


def _select_fast(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return what `--fast` has: one case of each test, or of a file's first test."""
    first_cases: dict[object, pytest.Item] = {}
    for item in filter(_is_fast, items):
        is_whole = item.path.relative_to(TESTS).parts[0] in _WHOLE
        first_cases.setdefault(_case(item) if is_whole else item.path, item)
    return list(first_cases.values())


def _list_marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


@functools.cache
def _is_contract(file: Path) -> bool:
    return file.is_relative_to(TESTS / "contract")


def _is_fast(item: pytest.Item) -> bool:
    """Return whether `--fast` has a test; without property tests Hypothesis need not read the whole package
    for its constants."""
    left_out = _NOT_FAST - {"slow"} if _is_contract(item.path) else _NOT_FAST
    return left_out.isdisjoint(_list_marks(item)) and not is_hypothesis_test(getattr(item, "obj", None))


def _case(item: pytest.Item) -> tuple[object, ...]:
    """Return what cases of one test have in common; contracts hold for every case."""
    is_contract = _is_contract(item.path)
    name = item.originalname if isinstance(item, pytest.Function) and not is_contract else item.name
    return item.path, item.getparent(pytest.Class), name
