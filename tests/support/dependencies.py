"""The fast tests with the lowest, or the newest, versions of what pyproject.toml says that jsctl runs with.

    python -m tests.support.dependencies lowest|newest [PYTEST ARGUMENTS]

It makes an environment in a folder for temporary files, with uv, and needs a package index.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}


def list_requirements(which: str) -> str:
    """Return what jsctl needs directly, and the versions that uv finds, one a line."""
    extras = ["--extra", "spark", "--extra", "decode"]
    words = [
        "pip",
        "compile",
        "-q",
        "--no-header",
        "--no-deps",
        "--no-annotate",
        "--resolution",
        RESOLUTIONS[which],
    ]
    command = [sys.executable, "-m", "uv", *words, *extras, str(ROOT / "pyproject.toml")]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def try_tests(which: str, arguments: list[str]) -> int:
    """Run the fast tests in an environment of these versions, and return pytest's status. The tools of the
    tests are the newest that fit."""
    with tempfile.TemporaryDirectory(prefix=f"jsctl-{which}-") as folder:
        versions, environment = Path(folder, "versions.txt"), Path(folder, "env")
        versions.write_text(list_requirements(which))
        print(versions.read_text(), flush=True)
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "-q", "--python", sys.executable, str(environment)], check=True)
        python = str(environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))
        packages = ["-c", str(versions), "-e", f"{ROOT}[spark,decode,dev]"]
        subprocess.run([*uv, "pip", "install", "-q", "--python", python, *packages], check=True)
        return subprocess.run(
            [python, "-m", "pytest", "--fast", *arguments], cwd=ROOT, check=False
        ).returncode


if __name__ == "__main__":
    if sys.argv[1:2] not in (["lowest"], ["newest"]):
        sys.exit(__doc__)
    sys.exit(try_tests(sys.argv[1], sys.argv[2:]))
