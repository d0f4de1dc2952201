"""The archive of Spark's classes: a file that the JVM maps into memory instead of loading the classes again.

A short command spends most of its time while the JVM loads 15,000 classes. HotSpot can keep them in an
archive (class data sharing, JEP 350). The first command that starts Spark makes one, in a separate process
that starts when the command is done; later commands start in a third of the processor time.

The archive is optional: if it does not exist, cannot be made, or is not accepted by the JVM, Spark starts
without it. The JVM checks that an archive belongs to it and to its jars; the file name contains a digest of
these, so that another Java or Spark uses another archive. The most recently used archives are kept.
`make_class_archive` makes them.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from jsctl.errors import MissingDependency
from jsctl.posix import make_private_folder
from jsctl.spark.session import java
from jsctl.user_folders import find_cache_folder

SWITCH = "JSCTL_SPARK_ARCHIVE"
"""The environment variable that disables the archive when it is `off`."""

_NEEDED_SPACE = 1 << 30  #: bytes that must be free, several times what an archive takes
_RETRY_AFTER = 86400  #: seconds after a failure
_OPTIONS = "-XX:+IgnoreUnrecognizedVMOptions -Xlog:disable"
"""Errors about the archive are not logged: Spark then starts without it."""


def find_folder() -> Path:
    """Return the folder of archives, whose contents may be deleted at any time."""
    return find_cache_folder(os.environ) / "jsctl" / "spark"


def find() -> Path | None:
    """Return the path of the archive for this Java and Spark, which need not exist; None if it cannot be
    used."""
    if os.environ.get(SWITCH) == "off":
        return None
    try:
        binary, jars = java.find_java(), find_home() / "jars"
        parts = [str(binary), java.read_release(binary), *_build_identity(binary), *_build_identity(jars)]
        parts += [part for jar in sorted(jars.glob("*.jar")) for part in _build_identity(jar)]
    except (OSError, MissingDependency):
        return None
    if any(c in str(find_folder()) for c in "\"\\'"):  # Spark would alter such a path
        return None
    digest = hashlib.blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=12).hexdigest()
    return find_folder() / f"{digest}.jsa"


def read_options() -> str:
    """Return the JVM options for using the archive, empty if there is none."""
    archive = find()
    if archive is None or not is_whole(archive):
        return ""
    with contextlib.suppress(OSError):  # it may belong to another user
        os.utime(archive)  # the least recently used archives are removed
    return f'{_OPTIONS} "-XX:SharedArchiveFile={archive}"'


def is_whole(archive: Path) -> bool:
    """Return whether the archive exists and has its full size. The JVM crashes on a truncated one."""
    try:
        return archive.stat().st_size == int(get_size_record(archive).read_text())
    except (OSError, ValueError):
        return False


def get_size_record(archive: Path) -> Path:
    """Return the path of the file that records the size of an archive."""
    return archive.with_suffix(".size")


def write_options(draft: Path) -> str:
    """Return the JVM options for writing an archive when the JVM ends."""
    return f'{_OPTIONS} "-XX:ArchiveClassesAtExit={draft}"'


def is_finished(draft: Path) -> bool:
    """Return whether the JVM wrote all of an archive: it writes the header last (HotSpot: filemap.cpp)."""
    with draft.open("rb") as file:
        return bool(file.read(4).strip(b"\0"))


def start_making() -> None:
    """Start a process that makes the archive, unless there is one or it cannot be made on this machine."""
    archive = find()
    if archive is None or is_whole(archive) or has_failed_lately(archive):
        return
    with contextlib.suppress(OSError):
        make_private_folder(archive.parent)
        if shutil.disk_usage(archive.parent).free < _NEEDED_SPACE:
            return
        inherited = ("PATH", "HOME", "JAVA_HOME", "SPARK_HOME", "XDG_CACHE_HOME", "LANG", "LC_ALL", "TMPDIR")
        environ = {name: os.environ[name] for name in inherited if name in os.environ}
        environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        subprocess.Popen(
            [sys.executable, "-m", "jsctl.spark.session.make_class_archive"],
            env=environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def find_home() -> Path:
    """Return the folder of the Spark that PySpark starts."""
    home = os.environ.get("SPARK_HOME")
    if home:
        return Path(home)
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise OSError("PySpark is not installed")
    return Path(spec.origin).parent


def _build_identity(path: Path) -> list[str]:
    status = path.stat()
    return [path.name, str(status.st_size), str(status.st_mtime_ns)]


def get_failure_mark(archive: Path) -> Path:
    """Return the path of the file that marks an archive as one that could not be made."""
    return archive.with_suffix(".failed")


def has_failed_lately(archive: Path) -> bool:
    """Return whether an archive could not be made within the last day."""
    try:
        return time.time() - get_failure_mark(archive).stat().st_mtime < _RETRY_AFTER
    except OSError:
        return False
