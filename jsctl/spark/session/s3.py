"""S3 without the JVM. Python reaches Hadoop's file systems only through the JVM, where all that tasks make
would have to go; pyarrow brings a client of its own, which is used where it does what Hadoop's does."""

import functools
import os
import re
from collections.abc import Mapping
from typing import Any

from jsctl.base.user_folders import expand_home
from jsctl.spark.session.hadoop import HadoopPath

S3Options = tuple[tuple[str, Any], ...]
"""Arguments of pyarrow's S3FileSystem, as pairs."""

_ATTEMPTS = 10  #: of a request, which wait for a minute in all, as long as Hadoop's

_KEYS = frozenset(("access.key", "secret.key"))
_LOGIN = _KEYS | {"session.token"}
_KNOWN = _LOGIN | {
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
    login is neither by keys nor by the machine's role, when any other setting for S3 has no counterpart, and
    when pyarrow is refused."""
    if folder.scheme != "s3a":
        return None
    settings = folder.list_settings("fs.s3a.")
    of_bucket = f"bucket.{find_path(folder).partition('/')[0]}."
    settings |= {
        name.removeprefix(of_bucket): value for name, value in settings.items() if name.startswith(of_bucket)
    }
    options = translate({name: value for name, value in settings.items() if not name.startswith("bucket.")})
    return options if options and _is_reachable(options, find_path(folder)) else None


def find_path(folder: HadoopPath) -> str:
    """Return bucket and prefix, which is how pyarrow names a folder of S3."""
    return folder.uri.partition("://")[2]


@functools.cache
def connect(options: S3Options, attempts: int = _ATTEMPTS) -> Any:
    """Return pyarrow's S3FileSystem. attempts: of each request. Raises ImportError if this pyarrow has
    none."""
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    return S3FileSystem(**dict(options), retry_strategy=AwsStandardS3RetryStrategy(max_attempts=attempts))


def translate(settings: Mapping[str, str]) -> S3Options | None:
    """Return the options for settings `fs.s3a.*`, by their names without this beginning; None if pyarrow
    might do something else with them."""
    if not settings.keys() <= _KNOWN:
        return None
    options: dict[str, Any] = {}
    if login := settings.keys() & _LOGIN:
        if not login >= _KEYS:
            return None
        options = {name.replace(".", "_"): settings[name] for name in login}
    elif _has_profile():
        return None
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


def _has_profile() -> bool:
    """Return whether pyarrow, without keys, would log in with what Hadoop does not look at."""
    names = ("AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE")
    return any(name in os.environ for name in names) or expand_home("~/.aws").exists()


def _is_reachable(options: S3Options, path: str) -> bool:
    try:
        connect(options, 1).get_file_info(path)
    except (ImportError, OSError):
        return False
    return True
