"""S3 without the JVM. Python reaches Hadoop's file systems only through the JVM, where all that tasks make
would have to go; pyarrow brings a client of its own, which is used where it does what Hadoop's does."""

import functools
import re
from collections.abc import Mapping
from typing import Any

from jsctl.spark.session.hadoop import HadoopPath

S3Options = tuple[tuple[str, Any], ...]
"""Arguments of pyarrow's S3FileSystem, as pairs."""

_KEYS = frozenset(("access.key", "secret.key"))
_KNOWN = _KEYS | {
    "session.token",
    "endpoint",
    "endpoint.region",
    "path.style.access",
    "connection.ssl.enabled",
    "downgrade.syncable.exceptions",  # of Spark's own making (SparkHadoopUtil); changes nothing in a file
}
"""Settings `fs.s3a.*` that have a counterpart in pyarrow, or need none."""

_AMAZON = re.compile(r"(?:s3[.-](?:dualstack\.)?)?(?:([a-z]+(?:-[a-z]+)+-\d)\.)?amazonaws\.com(?:\.cn)?")


def find_options(folder: HadoopPath) -> S3Options | None:
    """Return how pyarrow reaches a folder of S3 as Hadoop does. None when the folder is elsewhere, when the
    login is not by keys, when a setting for S3 has no counterpart, and when pyarrow is refused."""
    if folder.scheme != "s3a":
        return None
    settings = folder.list_settings("fs.s3a.")
    of_bucket = f"bucket.{find_path(folder).partition('/')[0]}."
    settings |= {
        name.removeprefix(of_bucket): value for name, value in settings.items() if name.startswith(of_bucket)
    }
    options = _translate({name: value for name, value in settings.items() if not name.startswith("bucket.")})
    return options if options and _can_look(options, find_path(folder)) else None


def find_path(folder: HadoopPath) -> str:
    """Return bucket and prefix, which is how pyarrow names a folder of S3."""
    return folder.uri.partition("://")[2]


@functools.cache
def connect(options: S3Options) -> Any:
    """Return pyarrow's S3FileSystem. Raises ImportError if this pyarrow has none."""
    from pyarrow.fs import S3FileSystem

    return S3FileSystem(**dict(options))


def _translate(settings: Mapping[str, str]) -> S3Options | None:
    """Return the options for settings `fs.s3a.*`, by their names without this beginning."""
    if not _KEYS <= settings.keys() <= _KNOWN:
        return None
    options: dict[str, Any] = {"access_key": settings["access.key"], "secret_key": settings["secret.key"]}
    if token := settings.get("session.token"):
        options["session_token"] = token
    scheme, _, host = settings.get("endpoint", "").rpartition("://")
    region = settings.get("endpoint.region", "")
    if amazon := _AMAZON.fullmatch(host or "amazonaws.com"):
        region = region or amazon[1]
        if not region:
            return None  # Hadoop finds it out, with each bucket
    else:
        is_plain = settings.get("connection.ssl.enabled") == "false"
        options["scheme"] = scheme or ("http" if is_plain else "https")
        options["endpoint_override"] = host.rstrip("/")
        options["force_virtual_addressing"] = settings.get("path.style.access") != "true"
    return tuple({**options, "region": region or "us-east-1"}.items())


def _can_look(options: S3Options, path: str) -> bool:
    try:
        connect(options).get_file_info(path)
    except (ImportError, OSError):
        return False
    return True
