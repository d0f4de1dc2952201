"""Folders of this machine as paths for Spark, whatever characters their names contain.

Spark takes the text after `file:` as it is: `Path.as_uri` would encode a blank as %20, and Spark would write
to another folder, with %20 in its name. In paths to read, brackets, braces, * and ? are a pattern
(Hadoop's FileSystem.globStatus) unless escaped with a backslash.
"""

import re
from pathlib import Path
from urllib.parse import unquote

from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput


def parse_folder(text: str, name: str) -> Path:
    """Return the folder or file that a user named, as a path or as a URI such as file:///data/orders.

    Args:
        name: of the flag or argument, for errors.

    Raises BadInput for places that are not in a file system of this machine, such as s3a://bucket/orders.
    """
    uri = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", text)
    if not uri or Path(text).exists():
        return expand_home(text)
    if local := re.fullmatch(r"file:(?://(?:localhost)?)?(/.*)", text, re.IGNORECASE | re.DOTALL):
        return Path(unquote(local[1]))  # ? and # have no special meaning in a folder's name
    scheme = uri[1].lower()
    raise BadInput(
        f"{name} {scheme}://... is not a folder on this machine, and jsctl can use only those",
        'mount it, or use df.write and spark.read.format("jetstream") in Spark, which reach it',
    )


def write_path(folder: Path) -> str:
    """Return the text of a folder for Spark to write to."""
    path = folder.absolute().as_posix()
    return f"file:{path}" if path.startswith("/") else f"file:/{path}"


def read_path(folder: Path) -> str:
    """Return the text of a folder or file of exactly this name for Spark to read."""
    return re.sub(r"[][{}*?\\]", r"\\\g<0>", write_path(folder))
