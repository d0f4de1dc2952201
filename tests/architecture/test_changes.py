"""The fast loop runs the tests that a change may break."""

import ast
import subprocess
from pathlib import Path

import pytest

from tests.support import changes
from tests.support.imports import find_users
from tests.support.selection import TESTS, put_cases_last
from tests.support.sources import ROOT, read_modules

FILES = [
    path.relative_to(ROOT).as_posix() for top in ("jsctl", "tests") for path in (ROOT / top).rglob("*.*")
]


@pytest.fixture(scope="module")
def users() -> dict[str, set[str]]:
    return find_users(FILES)


def test_every_import_is_seen(users: dict[str, set[str]]) -> None:
    """Also one inside a function, and one whose names stand on lines of their own."""
    missing = []
    for path, nodes in read_modules().items():
        for node in nodes:
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                file = f"{name.replace('.', '/')}.py"
                if (ROOT / file).is_file() and path.relative_to(ROOT).as_posix() not in users[file]:
                    missing.append((name, path))
    assert not missing


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("jsctl/views/report/report.py", "commands/report/test_report.py"),
        ("jsctl/monitor/report/figures/streams.py", "commands/stream/test_report.py"),
        ("jsctl/monitor/report/figures/streams.py", "commands/report/test_watch.py"),
        ("jsctl/prompts/stream.py", "commands/stream/test_add_questions.py"),
        ("jsctl/jetstream/config/stream_fields.py", "commands/stream/test_add_questions.py"),
        ("jsctl/commands/stream/purge.py", "commands/stream/test_purge.py"),
        ("jsctl/jetstream/config/numbers.py", "unit/jetstream/config/test_schema.py"),
        ("jsctl/registry/stream.py", "commands/test_manual.py"),
        ("tests/golden/stream_report.txt", "commands/stream/test_report.py"),
        ("tests/golden/kv_ls.txt", "commands/kv/test_golden.py"),
        ("tests/commands/kv/test_put.py", "commands/kv/test_put.py"),
        ("tests/commands/object/conftest.py", "commands/object/test_watch.py"),
        ("jsctl/manual/streams.md", "commands/test_manual.py"),
        ("jsctl/localserver/topologies/hub-leaf.yaml", "unit/localserver/test_spec.py"),
        ("jsctl/jetstream/api_errors.tsv", "commands/errors/test_group.py"),
    ],
)
def test_the_nearest_tests(changed: str, test: str, users: dict[str, set[str]]) -> None:
    """Of some five hundred test files, these are among the first sixty: --fast has about so many."""
    nearest = changes.rank_tests([changed], users)
    assert f"tests/{test}" in nearest[:60], nearest[:60]


def test_tests_that_quote_what_is_gone_are_near(users: dict[str, set[str]]) -> None:
    nearest = changes.rank_tests(["jsctl/errors.py"], users, {"Duplicate tracking time window", "name"})
    quoting = {"tests/commands/stream/test_add_questions.py", "tests/scenarios/test_guide.py"}
    assert quoting <= set(nearest[:10])


def test_each_of_several_changes_has_its_nearest_test_first(users: dict[str, set[str]]) -> None:
    nearest = changes.rank_tests(["jsctl/errors.py", "jsctl/commands/kv/put.py"], users)
    assert "tests/commands/kv/test_put.py" in nearest[:2]
    assert len(nearest) > 400 and all((TESTS.parent / path).is_file() for path in nearest)


def test_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        author = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True, capture_output=True)

    def write(**texts: str) -> None:
        for name, text in texts.items():
            (tmp_path / name).write_text(text)

    def list_changed() -> list[str]:
        return changes.list_changed(changes.find_base())

    monkeypatch.setattr(changes, "ROOT", tmp_path)
    git("init", "-q", "-b", "main")
    write(kept="1", edited="1", staged="1", removed="1", committed="1", moved="1", main="1")
    git("add", ".")
    git("commit", "-qm", "first")
    assert list_changed() == []
    write(edited="2")
    assert list_changed() == ["edited"], "on main: what is not committed"
    git("switch", "-qc", "topic")
    write(committed="2")
    git("commit", "-qm", "second", "committed")
    git("mv", "moved", "there é")
    git("rm", "-q", "removed")
    write(staged="2", new="1")
    git("add", "staged")
    assert list_changed() == [
        *("committed", "edited", "moved", "new", "removed", "staged", "there é"),
    ]
    git("stash", "-uq")
    git("switch", "-q", "main")
    write(main="2")
    git("commit", "-qm", "what main has got since then", "main")
    git("switch", "-q", "topic")
    assert list_changed() == ["committed"]


def test_what_is_no_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(pytest.UsageError, match="use --fast=all"):
        changes.find_base()


def test_a_test_with_many_cases_leaves_room_for_others() -> None:
    """300 cases of the nearest file were all that the fast loop ran beside the contracts."""
    cases = [("near", number) for number in range(333)] + [("next", 0)]
    ordered = put_cases_last(cases, lambda case: case[0])
    assert ordered[0] == ("near", 0) and ("next", 0) in ordered[:20] and sorted(ordered) == sorted(cases)
