"""What a release is made of: the changelog, the workflows and their steps, licenses, SBOM, checksums."""

import datetime
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from tests.packaging.conftest import ROOT, Dist
from tests.support import dependencies, release

SCHEMAS = {
    ".github/workflows/tests.yml": "vendor.github-workflows",
    ".github/workflows/release.yml": "vendor.github-workflows",
    ".github/dependabot.yml": "vendor.dependabot",
    ".github/ISSUE_TEMPLATE/problem.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/wish.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
}
WORKFLOWS = [path for path in SCHEMAS if "workflows" in path]


# -- the changelog --------------------------------------------------------------------------------


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def find_faults(text: str, version: str, changed: bool) -> list[str]:
    """What is wrong with a changelog. changed: whether code changed since the last release."""
    releases = release.read_releases(text)
    faults = [] if text.startswith("# Changelog\n") else ["no title"]
    if not releases or releases[0].version != "Unreleased":
        return [*faults, "no part Unreleased at the top"]
    if changed and not releases[0].text:
        faults.append("code changed, and Unreleased is empty")
    dates = []
    for part in releases[1:]:
        try:
            dates.append(datetime.date.fromisoformat(part.date))
        except ValueError:
            faults.append(f"{part.version} has no date")
        if not re.fullmatch(r"\d+\.\d+\.\d+", part.version):
            faults.append(f"{part.version} is not a version")
    numbers = [tuple(map(int, part.version.split("."))) for part in releases[1:] if "." in part.version]
    if dates != sorted(dates, reverse=True) or numbers != sorted(set(numbers), reverse=True):
        faults.append("the newest is not first")
    if numbers and tuple(map(int, version.split("."))) < numbers[0]:
        faults.append("the version is older than the newest part")
    for part in releases:
        titles = re.findall(r"^### (.*)$", part.text, re.MULTILINE)
        kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
        if titles != [kind for kind in kinds if kind in titles]:
            faults.append(f"{part.version} has other titles, or in another order: {titles}")
    return faults


def test_the_changelog_has_the_usual_form() -> None:
    tag = git("describe", "--tags", "--abbrev=0", "--match", "v*")
    changed = not tag or bool(git("diff", "--name-only", tag, "--", "jsctl"))
    assert find_faults(release.CHANGELOG.read_text(), release.read_version(), changed) == []


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ("## [Unreleased]\n\n", "is empty"),
        ("## [0.1.0] - 2026-01-01\n\n- x\n", "no part Unreleased"),
        ("## [Unreleased]\n\n- x\n\n## [0.1.0]\n\n- x\n", "no date"),
        ("## [Unreleased]\n\n- x\n\n## [0.1.0] - 2026-13-01\n\n- x\n", "no date"),
        ("## [Unreleased]\n\n- x\n\n## [0.9.0] - 2026-01-01\n\n- x\n", "older than the newest part"),
        ("## [Unreleased]\n\n### New\n\n- x\n", "other titles"),
        (
            "## [Unreleased]\n\n- x\n\n## [0.0.1] - 2026-01-01\n\n- x\n\n## [0.1.0] - 2026-02-01\n\n- x\n",
            "newest is not first",
        ),
    ],
)
def test_what_is_wrong_with_a_changelog_is_found(parts: str, fault: str) -> None:
    assert any(fault in found for found in find_faults(f"# Changelog\n\n{parts}", "0.1.0", changed=True))


def test_a_tag_that_does_not_fit_makes_no_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = release.read_version()
    monkeypatch.setattr(release, "CHANGELOG", tmp_path / "CHANGELOG.md")
    for text, tag, error in (
        ("", f"v{version}", "has no part"),
        (f"## [{version}]\n", f"v{version}", "has no date"),
        ("", "v99.0.0", f"says {version}"),
    ):
        release.CHANGELOG.write_text(f"# Changelog\n\n{text}")
        with pytest.raises(SystemExit, match=error):
            release.check(tag)
    release.CHANGELOG.write_text(f"# Changelog\n\n## [{version}] - 2026-11-24\n\n### Added\n\n- All.\n")
    release.check(f"v{version}")
    assert release.find_release(f"v{version}").text == "### Added\n\n- All."


# -- what GitHub reads ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", SCHEMAS)
def test_it_fits_its_published_schema(path: str) -> None:
    main = pytest.importorskip("check_jsonschema.cli").main  # a second of imports
    done = CliRunner().invoke(main, ["--builtin-schema", SCHEMAS[path], str(ROOT / path)])
    assert done.exit_code == 0, done.output


def test_every_file_of_github_is_checked() -> None:
    files = {str(path.relative_to(ROOT)) for path in (ROOT / ".github").rglob("*.yml")}
    assert files == set(SCHEMAS)
    for name in ("SECURITY.md", "pull_request_template.md"):
        assert (ROOT / ".github" / name).read_text()


def test_the_hooks_before_a_commit_are_the_tools_of_the_project() -> None:
    pytest.importorskip("pre_commit")
    words = [sys.executable, "-m", "pre_commit", "validate-config", str(ROOT / ".pre-commit-config.yaml")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [repository] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [hook["entry"] for hook in repository["hooks"]] == ["ruff check", "ruff format", "mypy"]


def read_jobs(path: str) -> dict[str, dict[str, object]]:
    document = yaml.safe_load((ROOT / path).read_text())
    jobs: dict[str, dict[str, object]] = document["jobs"]
    return jobs


def list_lines(path: str) -> list[str]:
    return [
        step["run"]
        for job in read_jobs(path).values()
        for step in job["steps"]  # type: ignore[attr-defined]
        if "run" in step
    ]


RUN_HERE = {
    'python -m pip install -q -e ".[dev]"': "CI installs the clone with it",
    'python -m pip install -q -e ".[dev-all]"': "the same",
    "python -m pytest --fast=all": ".ci/run, on other Pythons",
    "python -m jsctl version": "tests/commands/test_version.py",
    ".ci/run": "CI",
    "python -m tests.support.release check ${{ github.ref_name }}": "test_a_tag_that_does_not_fit_...",
    "python -m tests.support.release sbom dist": "test_the_files_beside_a_release",
    "python -m tests.support.release checksums dist": "test_the_files_beside_a_release",
    "python3 -m tests.support.release notes ${{ github.ref_name }} > notes.md": "test_a_tag_...",
    "python -m tests.support.dependencies lowest": "a part of it in .ci/run, by turns",
    "python -m tests.support.dependencies newest": "the same",
    "python -m build": "tests/packaging/conftest.py",
    "python -m twine check --strict dist/*": "tests/packaging/test_wheel.py",
    "docker build --file .container/Containerfile --build-arg 'EXTRAS=${{ matrix.extras }}' --tag jsctl .": (
        "tests/packaging/test_container.py, without an engine"
    ),
}
"""Lines of the workflows that run here, and where."""

ONLY_THERE = ("docker ", "gh ", "mkdir packages && mv dist/")
"""How lines begin that need an engine for containers or the repository's page."""


@pytest.mark.parametrize("path", WORKFLOWS)
def test_each_step_is_one_line_that_runs_here(path: str) -> None:
    lines = list_lines(path)
    assert lines and all("\n" not in line for line in lines)
    assert [line for line in lines if line not in RUN_HERE and not line.startswith(ONLY_THERE)] == []
    for line in lines:
        for name in re.findall(r"python3? -m (tests\.[\w.]+)", line):
            assert (ROOT / f"{name.replace('.', '/')}.py").exists()


@pytest.mark.parametrize("path", WORKFLOWS)
def test_a_workflow_gets_the_rights_it_needs_and_ends(path: str) -> None:
    document = yaml.safe_load((ROOT / path).read_text())
    assert document["permissions"] == {"contents": "read"}
    for job in document["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step.get("uses", "a/b@v1"))


def test_the_pythons_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = [line.rpartition(" ")[2] for line in project["classifiers"] if " :: 3." in line]
    matrix = yaml.safe_load((ROOT / WORKFLOWS[0]).read_text())["jobs"]["fast"]["strategy"]["matrix"]
    assert matrix["python"] == listed
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]


def test_other_versions_of_each_dependency_are_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["spark"], *extras["decode"], *extras["age"], *extras["mcp"]]
    assert set(dependencies.USERS) == {re.split(r"[\[><=; ]", line)[0].lower() for line in needed}
    for path in (path for paths in dependencies.USERS.values() for path in paths):
        assert (ROOT / "tests" / path).exists(), path


# -- what is beside a release ---------------------------------------------------------------------


def test_what_uv_builds_is_not_kept(tmp_path: Path) -> None:
    pytest.importorskip("uv")
    words = [*release.uv_for(tmp_path), "cache", "dir"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_files_beside_a_release(dist: Dist, tmp_path: Path) -> None:
    """They name what jsctl brings, and none of the tools that make a release."""
    shutil.copy(dist.wheel, tmp_path)
    release.write_sbom(tmp_path)
    lines = (tmp_path / "licenses.txt").read_text().splitlines()
    names = {line.partition(" ")[0].lower() for line in lines}
    assert {"jsctl", "nats-py", "nkeys", "click", "pyspark", "fastavro"} <= names
    assert not names & {"pytest", "uv", "twine", "pip", "cyclonedx-bom"}
    assert not [line for line in lines if line.endswith("not stated")]
    listed = {part["name"].lower() for part in json.loads((tmp_path / "sbom.json").read_text())["components"]}
    assert listed == names - {"jsctl"}
    release.write_checksums(tmp_path)
    words = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and f"{dist.wheel.name}: OK" in done.stdout


def test_no_dependency_forbids_what_the_license_allows() -> None:
    """Each license lets a program under Apache-2.0 be passed on with it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.split(r"[\[><=; ]", line)[0].lower() for line in project["dependencies"]}
    for line in release.list_licenses():
        name, _, rest = line.partition(" ")
        if name.lower() in needed:
            assert re.search(r"MIT|BSD|Apache|LGPL|PSF|ISC", rest), line
