"""Places in Hadoop's file systems, such as s3a://lake/orders, with the few methods of `pathlib.Path` that
exports need. Spark's JVM reads and writes them, so that what Spark can reach, jsctl can, with the same
settings.
"""

import posixpath
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.errors import BadInput, JsctlError
from jsctl.spark.session.spark_errors import extract_message

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGES = {
    "s3a": "org.apache.hadoop:hadoop-aws:{hadoop}",
    "abfs": "org.apache.hadoop:hadoop-azure:{hadoop}",
    "abfss": "org.apache.hadoop:hadoop-azure:{hadoop}",
    "gs": "com.google.cloud.bigdataoss:gcs-connector:3.1.2",
}
"""The Maven coordinates of file systems that Spark does not bring, by scheme. hadoop: Spark's own version."""

_READS = 10  #: tries to read a file that is replaced meanwhile

_OTHER_CONTENT = re.compile(r"PreconditionFailed|RemoteFileChangedException|\D412\D")
"""What an object store's error says when an object is not the one that a request named: created or replaced
meanwhile (S3A reads with the ETag that it saw when the file was opened)."""

_NO_ANSWER = re.compile(
    r"ConnectException|Unable to execute HTTP request|UnknownHost|NoRouteToHost|imeoutException"
)
"""What an error says when a store did not answer for as long as Hadoop tries, which is a minute."""

_PAUSE = 60.0
"""Seconds in which a store that did not answer is not asked again, such as to clean up after the failure."""
_unanswered: dict[str, float] = {}
"""When a store last did not answer, by the beginning of its URI."""

_OTHER_NAMES = {"s3": "s3a", "s3n": "s3a", "gcs": "gs", "wasb": "abfs", "wasbs": "abfss"}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in a listing. size: in bytes. modified: in ms since 1970."""

    path: "HadoopPath"
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class HadoopPath:
    """A file or folder in one of Hadoop's file systems. spark: what reaches it; None before Spark has
    started.

    Methods raise JsctlError when the file system refuses, and RuntimeError without a session.
    """

    uri: str
    spark: "SparkSession | None" = None

    def __str__(self) -> str:
        return self.uri

    def __truediv__(self, name: "str | PurePosixPath") -> "HadoopPath":
        return replace(self, uri=f"{self.uri.rstrip('/')}/{name}")

    @property
    def scheme(self) -> str:
        """The scheme, such as s3a."""
        return self.uri.partition(":")[0]

    @property
    def name(self) -> str:
        """The last part of the path; that of a whole bucket is empty."""
        return posixpath.basename(self._path.rstrip("/"))

    @property
    def parents(self) -> "list[HadoopPath]":
        """The folders above this one, the nearest first."""
        root, path = self.uri.removesuffix(self._path), self._path
        folders = [str(folder) for folder in PurePosixPath(path or "/").parents]
        return [replace(self, uri=f"{root}{folder}") for folder in folders]

    @property
    def _path(self) -> str:
        match = re.fullmatch(r"[^:]+:(?://[^/]*)?(.*)", self.uri, re.DOTALL)
        return match[1] if match else ""

    def absolute(self) -> "HadoopPath":
        """Return this path: a URI is absolute."""
        return self

    def relative_to(self, folder: "HadoopPath") -> PurePosixPath:
        """Return the path below a folder. Raises ValueError when it is not there."""
        return PurePosixPath(self._path).relative_to(PurePosixPath(folder._path))

    def connect(self, spark: "SparkSession") -> "HadoopPath":
        """Return this path as a session reaches it."""
        return replace(self, spark=spark)

    def find_session(self) -> "SparkSession":
        """Return the session that reaches this path."""
        if self.spark is None:
            raise RuntimeError(f"{self.uri} is not connected")
        return self.spark

    def list_settings(self, prefix: str) -> dict[str, str]:
        """Return what was set in Hadoop's configuration: values, without defaults, by name without prefix."""
        with self._translated_errors() as (_, _, jvm):
            settings = jvm.org.apache.spark.SparkContext.getOrCreate().hadoopConfiguration()
            defaults = jvm.org.apache.hadoop.conf.Configuration(False)
            defaults.addResource("core-default.xml")
            known = dict(defaults.getPropsWithPrefix(prefix))
            found = dict(settings.getPropsWithPrefix(prefix))
            return {str(name): str(value) for name, value in found.items() if known.get(name) != value}

    def exists(self) -> bool:
        """Return whether there is a file or folder."""
        with self._translated_errors() as (system, path, _):
            return bool(system.exists(path))

    def is_dir(self) -> bool:
        """Return whether it is a folder; on an object store, whether anything is below it."""
        with self._translated_errors() as (system, path, _):
            return bool(system.exists(path)) and bool(system.getFileStatus(path).isDirectory())

    def iterdir(self) -> "list[HadoopPath]":
        """Return what is directly in this folder; nothing when there is no such folder."""
        with self._translated_errors() as (system, path, _):
            statuses = system.listStatus(path) if system.exists(path) else ()
            names = [str(status.getPath().getName()) for status in statuses]
        return [self / name for name in sorted(names)]

    def list_files(self) -> list[StoredFile]:
        """Return all files at any depth, in the order of their paths; none when there is no such folder."""
        files = []
        with self._translated_errors() as (system, path, _):
            if not system.exists(path):
                return []
            base = str(system.getFileStatus(path).getPath().toUri().getPath())
            listed = system.listFiles(path, True)
            while listed.hasNext():
                status = listed.next()
                below = str(status.getPath().toUri().getPath()).removeprefix(base).lstrip("/")
                file = self / below if below else self
                files.append(StoredFile(file, int(status.getLen()), int(status.getModificationTime())))
        return sorted(files, key=lambda file: file.path.uri)

    def rglob(self, pattern: str) -> "Iterator[HadoopPath]":
        """Yield the files, at any depth, whose names match a pattern."""
        yield from (file.path for file in self.list_files() if fnmatchcase(file.path.name, pattern))

    def read_text(self) -> str | None:
        """Return the text of a file, None when there is none."""
        for tries_left in reversed(range(_READS)):
            with self._translated_errors() as (system, path, jvm):
                try:
                    stream = system.open(path)
                    try:
                        return str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
                    finally:
                        stream.close()
                except Exception as error:
                    if "FileNotFoundException" in str(error):
                        return None
                    # On local disks, Hadoop replaces a file and its checksum one after the other.
                    is_replaced = tries_left and "ChecksumException" in str(error)
                    if not (is_replaced or _OTHER_CONTENT.search(str(error))):
                        raise
        raise JsctlError(f"{self} changes too fast to be read", "try again")

    def write_text(self, text: str) -> None:
        """Write a file, in the place of one that is there."""
        with self._translated_errors() as (system, path, _):
            _write(system.create(path, True), text)

    def create_text(self, text: str) -> bool:
        """Write a file where none is; return False, and write nothing, when there is one.

        Of two that do this at once, one succeeds, in each file system that can tell: in HDFS, Azure's,
        Google's, and S3 with conditional writes (Hadoop 3.4.2 and later).
        """
        with self._translated_errors() as (system, path, _):
            builder = system.createFile(path).create().recursive().overwrite(False)
            try:
                _write(builder.opt("fs.option.create.conditional.overwrite", True).build(), text)
            except Exception as error:
                if re.search(r"FileAlreadyExists|already exists", str(error)) or _OTHER_CONTENT.search(
                    str(error)
                ):
                    return False
                raise
        return True

    def unlink(self) -> None:
        """Remove a file, if there is one."""
        with self._translated_errors() as (system, path, _):
            system.delete(path, False)

    def rmtree(self) -> None:
        """Remove a folder with everything in it, if there is one."""
        with self._translated_errors() as (system, path, _):
            system.delete(path, True)

    @contextmanager
    def _translated_errors(self) -> "Iterator[tuple[Any, Any, Any]]":
        """Yield the file system, the path in it and the JVM; raise errors of the JVM as JsctlError."""
        from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]

        root = self.uri.removesuffix(self._path)
        if time.monotonic() < _unanswered.get(root, 0) + _PAUSE:
            raise JsctlError(f"{root} did not answer")
        context: Any = self.find_session().sparkContext
        try:
            apache = context._jvm.org.apache
            path = apache.hadoop.fs.Path(self.uri)
            settings = apache.spark.SparkContext.getOrCreate().hadoopConfiguration()
            yield path.getFileSystem(settings), path, context._jvm
        except (Py4JError, Py4JNetworkError) as error:
            if _NO_ANSWER.search(str(error)):
                _unanswered[root] = time.monotonic()
            raise _build_error(self, error) from None


Place = Path | HadoopPath
"""A file or folder of this machine, or one in Hadoop's file systems."""


def _write(stream: Any, text: str) -> None:
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()  # which stores it


def _build_error(path: HadoopPath, error: Exception) -> JsctlError:
    text = str(error)
    message = re.sub(r" \((Service: |SDK Attempt).*", "", extract_message(error)).rstrip(".")
    package = PACKAGES.get(path.scheme)
    if package and re.search(r"ClassNotFoundException|No FileSystem for scheme", text):
        return BadInput(f"this Spark lacks the file system of {path.scheme}://", "add --packages auto")
    if re.search(r"UnsupportedFileSystemException|No FileSystem for scheme", text):
        return BadInput(f"this Spark knows no file system {path.scheme}://", "--packages brings others")
    if re.search(
        r"AccessDenied|Forbidden|NoAuthWithAWS|NoAwsCredentials|Permission denied|InvalidAccessKeyId", text
    ):
        return JsctlError(
            f"{path} refuses: {message}", "check the login that --conf or the environment gives"
        )
    return JsctlError(f"cannot use {path}: {message}")


def connect(place: Place, spark: "SparkSession") -> Place:
    """Return a place as a session reaches it."""
    return place.connect(spark) if isinstance(place, HadoopPath) else place


class ListedFile(NamedTuple):
    """A file in a place. name: its path below the place. size: in bytes. modified: a time in the unit of
    its file system, to compare it."""

    path: Place
    name: str
    size: int
    modified: int


def list_files(place: Place) -> list[ListedFile]:
    """Return a file, or those in a folder at any depth, in the order of their paths."""
    if isinstance(place, HadoopPath):
        listed = place.list_files()
        return [
            ListedFile(file.path, str(file.path.relative_to(place)), file.size, file.modified)
            for file in listed
        ]
    if place.is_file():
        files, folder = [place], place.parent
    else:
        files, folder = [file for file in sorted(place.rglob("*")) if file.is_file()], place
    described = ((file, file.relative_to(folder).as_posix(), file.stat()) for file in files)
    return [ListedFile(file, name, status.st_size, status.st_mtime_ns) for file, name, status in described]


def parse_uri(text: str, name: str) -> HadoopPath:
    """Return the place that a URI names.

    Args:
        name: of the flag or argument, for errors.

    Raises BadInput for one without a place or with a password, which belongs into settings.
    """
    scheme, _, rest = text.partition(":")
    scheme = scheme.lower()
    if other := _OTHER_NAMES.get(scheme):
        raise BadInput(
            f"{name} {scheme}://... is written {other}://...", "Hadoop's file systems are named so"
        )
    authority = rest.removeprefix("//").partition("/")[0] if rest.startswith("//") else ""
    if ":" in authority.rpartition("@")[0]:
        raise BadInput(
            f"{name} {scheme}://... holds a password", "give it by --conf, the environment or a role instead"
        )
    if scheme in PACKAGES and not authority:
        raise BadInput(f"{name} {text} names no bucket", f"write it like {scheme}://bucket/folder")
    if re.search(r"[\0-\x1f\x7f]|/\.\.(/|$)", text):
        raise BadInput(f"{name} {text!r} is not a valid URI", f"write it like {scheme}://bucket/folder")
    return HadoopPath(f"{scheme}:{rest}".rstrip("/"))
