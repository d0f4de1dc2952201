"""The wheel and the sdist of this clone, and environments into which the wheel is installed."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]


class Dist(NamedTuple):
    """What the build has made. output: what it has said."""

    wheel: Path
    sdist: Path
    output: str


def build(source: Path, folder: Path) -> Dist:
    """Build with the tools that are installed here; the sdist first, and from it the wheel."""
    pytest.importorskip("build")
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(source)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Dist(wheel, sdist, done.stdout + done.stderr)


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Dist:
    """The wheel and the sdist of this clone."""
    return build(ROOT, tmp_path_factory.mktemp("dist"))
