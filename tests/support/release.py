"""The steps of a release that are this project's own.

python -m tests.support.release check v1.2.3       the tag, the version and the changelog agree
python -m tests.support.release notes v1.2.3       what the changelog says of this version
python -m tests.support.release sbom FOLDER        sbom.json (CycloneDX), licenses.txt of what a wheel has
python -m tests.support.release checksums FOLDER   SHA256SUMS of its files
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
CHANGELOG = ROOT / "CHANGELOG.md"


class Release(NamedTuple):
    """A part of the changelog. date: empty for what is not released."""

    version: str
    date: str
    text: str


def read_releases(text: str) -> list[Release]:
    """Return the parts of a changelog, the newest first."""
    pieces = re.split(r"^## \[([^]]+)\](?: - (\S+))?$", text, flags=re.MULTILINE)[1:]
    return [
        Release(version, date or "", body.strip())
        for version, date, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)
    ]


def read_version() -> str:
    """Return the version of this clone."""
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "jsctl" / "__init__.py").read_text(), re.MULTILINE)
    return found[1] if found else ""


def find_release(tag: str) -> Release:
    """Return what the changelog says of a tag's version. Exits when it says nothing."""
    for release in read_releases(CHANGELOG.read_text()):
        if release.version == tag.removeprefix("v"):
            return release
    sys.exit(f"CHANGELOG.md has no part for {tag}: rename Unreleased to [{tag.removeprefix('v')}] - DATE")


def check(tag: str) -> None:
    """Exit unless the tag, the version and the changelog agree."""
    if tag != f"v{read_version()}":
        sys.exit(f"the tag is {tag}, and jsctl/__init__.py says {read_version()}")
    if not find_release(tag).date:
        sys.exit(f"the part for {tag} in CHANGELOG.md has no date")


def list_licenses(folder: str = "") -> list[str]:
    """Return a line for each distribution in a folder, or installed here: name, version, license."""
    lines = []
    for package in metadata.distributions(path=[folder]) if folder else metadata.distributions():
        about = package.metadata
        stated = [*about.get_all("License-Expression", []), *about.get_all("License", [])]
        classifiers = [line for line in about.get_all("Classifier", []) if line.startswith("License ::")]
        stated += [", ".join(line.rpartition(" :: ")[2] for line in classifiers)]
        license = next((text.partition("\n")[0] for text in stated if text), "not stated")
        lines.append(f"{about['Name']} {package.version}: {license}")
    return sorted(set(lines), key=str.lower)


def uv_for(folder: Path) -> list[str]:
    """Return the words that call uv with a cache in a temporary folder: the user's would keep a gigabyte for
    each PySpark that uv builds."""
    return [sys.executable, "-m", "uv", "--cache-dir", str(folder / "cache")]


def write_sbom(folder: Path) -> None:
    """Write the SBOM and the licenses of all that the wheel in a folder brings, with its extras for users.
    It needs a package index."""
    [wheel] = folder.glob("*.whl")
    target = str(folder / "sbom.json")
    with tempfile.TemporaryDirectory(prefix="jsctl-sbom-") as temporary:
        environment, uv = f"{temporary}/env", uv_for(Path(temporary))
        subprocess.run([*uv, "venv", "-q", "--python", sys.executable, environment], check=True)
        python = f"{environment}/bin/python"
        subprocess.run([*uv, "pip", "install", "-q", "-p", python, f"{wheel}[spark,decode]"], check=True)
        words = ["environment", "--output-reproducible", "--of", "JSON", "--output-file", target]
        words += ["--pyproject", str(ROOT / "pyproject.toml"), python]
        subprocess.run([sys.executable, "-m", "cyclonedx_py", *words], check=True)
        [packages] = Path(environment).glob("lib/python*/site-packages")
        licenses = list_licenses(str(packages))
    if json.loads(Path(target).read_text())["bomFormat"] != "CycloneDX":
        sys.exit(f"{target} is not a CycloneDX document")
    (folder / "licenses.txt").write_text("\n".join(licenses) + "\n")


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS, as `sha256sum --check` reads it."""
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(lines))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check", tag]:
            check(tag)
        case ["notes", tag]:
            print(find_release(tag).text)
        case ["sbom", folder]:
            write_sbom(Path(folder))
        case ["checksums", folder]:
            write_checksums(Path(folder))
        case _:
            sys.exit(__doc__)
