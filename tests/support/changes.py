"""What changed since the merge base with `main`, and the tests that use it, the nearest first."""

import re
import subprocess
from collections import Counter, deque
from collections.abc import Mapping, Sequence, Set

import pytest

from tests.support.imports import ROOT, STRING

_FEW = 10
"""In how many test files a string may be that leads to them."""

_TEST = re.compile(r"tests/(.*/)?test_\w+\.py$")


def _ask_git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def find_base() -> str:
    """Return the merge base with `main`; on `main` itself that with `origin/main`, or the last commit.

    Raises UsageError outside a clone.
    """
    try:
        branch = _ask_git("branch", "--show-current").strip()
        names = _ask_git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads", "refs/remotes").split()
        main = next((name for name in ("main", "origin/main") if name in names and name != branch), "HEAD")
        return _ask_git("merge-base", "HEAD", main).strip()
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or error
        raise pytest.UsageError(
            f"--fast asks git what changed, which fails: {str(said).strip()}; use --fast=all"
        ) from None


def list_changed(base: str) -> list[str]:
    """Return the paths that differ from a commit, also new, removed and uncommitted ones."""
    changed = _ask_git("diff", "--name-only", "--no-renames", "-z", base)
    new = _ask_git("ls-files", "--others", "--exclude-standard", "-z")
    return sorted({*changed.split("\0"), *new.split("\0")} - {""})


def list_removed_strings(base: str) -> set[str]:
    """Return the strings of the package's lines that a commit has and that are gone."""
    diff = _ask_git("diff", "--unified=0", "--no-renames", base, "--", "jsctl/*.py")
    lines = "\n".join(line[1:] for line in diff.splitlines() if line.startswith("-") and line[1:3] != "--")
    return _list_strings(lines)


def _list_strings(text: str) -> set[str]:
    return {double or single for double, single in STRING.findall(text)}


def list_files() -> list[str]:
    """Return the paths of all files of the project."""
    return _ask_git("ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")[:-1]


def rank_tests(
    changed: Sequence[str], users: Mapping[str, set[str]], removed: Set[str] = frozenset()
) -> list[str]:
    """Return the test files that use what changed, the nearest first; of several changes, those of each in
    turn. users: of each file, from `find_users`. removed: strings that the package no longer has; a file with
    one that few others have is near."""
    near = [_sort_tests(path, _measure_distances(path, users)) for path in changed]
    quoting = _find_quoting(removed, {test for tests in near for test in tests})
    ranks: dict[str, tuple[int, int]] = {}
    for turn, tests in enumerate([quoting, *near]):
        for rank, test in enumerate(tests):
            ranks[test] = min(ranks.get(test, (rank, turn)), (rank, turn))
    return [test for test in sorted(ranks, key=lambda test: ranks[test]) if (ROOT / test).exists()]


def _find_quoting(removed: Set[str], tests: Set[str]) -> list[str]:
    """Return the tests with strings that few of them have, those with most of these first."""
    quoting: dict[str, list[str]] = {}
    for test in sorted(tests) if removed else ():
        if (ROOT / test).exists():
            for string in removed & _list_strings((ROOT / test).read_text(encoding="utf-8")):
                quoting.setdefault(string, []).append(test)
    counts = Counter(test for found in quoting.values() if len(found) <= _FEW for test in found)
    return [test for test, _ in counts.most_common()]


def _sort_tests(changed: str, distances: Mapping[str, int]) -> list[str]:
    """Return the tests among these files by their distance, then by the words that their paths share with the
    change, then those of each folder in turn."""
    words = _split(changed)
    in_folder: Counter[str] = Counter()
    places: dict[str, tuple[int, int, int, str]] = {}
    for test in sorted(filter(_TEST.match, distances), key=lambda test: (distances[test], test)):
        folder = test.rpartition("/")[0]
        in_folder[folder] += 1
        places[test] = (distances[test], -len(_split(test) & words), in_folder[folder], test)
    return sorted(places, key=lambda test: places[test])


def _measure_distances(changed: str, users: Mapping[str, set[str]]) -> dict[str, int]:
    """Return the files that use a changed one, with the number of uses between: 0 for itself."""
    distances = {changed: 0}
    queue = deque([changed])
    while queue:
        file = queue.popleft()
        for user in users.get(file, set()) - distances.keys():
            distances[user] = distances[file] + 1
            queue.append(user)
    return distances


def _split(path: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", path.lower())) - {"py", "test", "tests", "jsctl"}
