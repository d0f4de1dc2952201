"""What the wheel and the sdist hold: what belongs in them, and nothing else."""

import re
import subprocess
import sys
import tarfile
import tomllib
from email import message_from_bytes
from zipfile import ZipFile

import pytest

import jsctl
from jsctl import registry
from tests.packaging.conftest import ROOT, Dist

pytestmark = pytest.mark.slow


def tracked(*folders: str) -> set[str]:
    """The files of the repository below these folders; all without one."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not listed:
        pytest.skip("not a git checkout")
    return {path for path in listed.rstrip("\0").split("\0") if (ROOT / path).exists()}


def test_they_are_built_without_a_warning(dist: Dist) -> None:
    assert not re.search("warn|deprecat|error", dist.output, re.IGNORECASE), dist.output
    words = [
        sys.executable,
        "-m",
        "twine",
        "--no-color",
        "check",
        "--strict",
        str(dist.wheel),
        str(dist.sdist),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout + done.stderr


def test_what_is_in_the_wheel(dist: Dist) -> None:
    with ZipFile(dist.wheel) as archive:
        names = set(archive.namelist())
    top = f"jsctl-{jsctl.__version__}"
    info = {f"{top}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    shared = {
        "bash-completion/completions/jsctl",
        "zsh/site-functions/_jsctl",
        "fish/vendor_completions.d/jsctl.fish",
        "powershell/jsctl.ps1",
        *(f"jsctl/{path}" for path in tracked("contexts")),
        "man/man1/jsctl.1",
        *(f"man/man1/jsctl-{path.replace(' ', '-')}.1" for path in registry.list_commands()),
    }
    found_by_spark = "jsctl/spark/autoload/pyspark_jetstream.py"  # at the top
    assert names == {
        *(tracked("jsctl") - {found_by_spark}),
        "pyspark_jetstream.py",
        *info,
        f"{top}.dist-info/licenses/LICENSE",
        *(f"{top}.data/data/share/{name}" for name in shared),
    }
    assert {"jsctl/py.typed", "jsctl/manual/start.md", "jsctl/cheats/streams.txt"} <= names


def test_the_sdist_is_the_repository(dist: Dist) -> None:
    with tarfile.open(dist.sdist) as archive:
        names = {member.name.split("/", 1)[1] for member in archive if member.isfile()}
    assert names == {*tracked(), "PKG-INFO"}


def test_what_a_package_index_shows(dist: Dist) -> None:
    with ZipFile(dist.wheel) as archive:
        metadata = message_from_bytes(archive.read(f"jsctl-{jsctl.__version__}.dist-info/METADATA"))
    assert metadata["Version"] == jsctl.__version__
    assert metadata["License-Expression"] == "Apache-2.0" and metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Keywords"] and metadata["Description-Content-Type"] == "text/markdown"
    pythons = [line for line in metadata.get_all("Classifier", []) if "Python :: 3." in line]
    assert [line.rpartition(".")[2] for line in pythons] == ["11", "12", "13", "14"]
    for url in metadata.get_all("Project-URL", []):
        assert re.fullmatch(r"[^,]+, https://[\w.-]+/\S*", url) and "example" not in url


def test_the_build_needs_what_the_package_needs() -> None:
    """The build loads the commands; their requirements have the same bounds in both lists."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for requirement in project["build-system"]["requires"][1:]:
        assert requirement in project["project"]["dependencies"]


ONLY_THESE = """
import sys
from importlib.machinery import PathFinder
allowed = {"jsctl", "click", "crc32c", "_crc32c", "colorama"}
class Finder:
    def find_spec(self, name, *rest):
        found = PathFinder.find_spec(name, *rest)
        if name.partition(".")[0] not in allowed and "site-packages" in str(getattr(found, "origin", "")):
            raise ModuleNotFoundError(f"no module named {name}", name=name)
sys.meta_path.insert(0, Finder())
from jsctl.app import root
from jsctl.commands.installing.man_pages import build_pages
print(len(list(build_pages(root))))
"""


def test_every_verb_is_loaded_with_what_the_build_has() -> None:
    """Neither the build nor `--help` needs Spark's packages, or any other than these two."""
    ran = subprocess.run([sys.executable, "-c", ONLY_THESE], capture_output=True, text=True, check=False)
    assert ran.stdout == f"{len(registry.list_commands()) + 1}\n", ran.stderr
