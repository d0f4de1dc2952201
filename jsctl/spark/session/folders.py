"""Folders as paths for Spark, whatever characters their names contain.

Spark takes the text after `file:` as it is: `Path.as_uri` would encode a blank as %20, and Spark would write
to another folder, with %20 in its name. In paths to read, brackets, braces, * and ? are a pattern
(Hadoop's FileSystem.globStatus) unless escaped with a backslash.
"""

import re
from pathlib import Path
from urllib.parse import unquote

from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput
from jsctl.spark.session.hadoop import HadoopPath, Place, parse_uri


def parse_place(text: str, name: str) -> Place:
    """Return the folder or file that a user named: as a path or file:///data/orders of this machine, or as
    the URI of one in Hadoop's file systems, such as s3a://bucket/orders.

    Args:
        name: of the flag or argument, for errors.

    Raises BadInput.
    """
    uri = _find_scheme(text)
    return parse_uri(text, name) if uri and uri != "file" else parse_folder(text, name)


def _find_scheme(text: str) -> str:
    """Return the scheme of a URI in lower case, empty for a path."""
    uri = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", text)
    return uri[1].lower() if uri and not Path(text).exists() else ""


def parse_folder(text: str, name: str) -> Path:
    """Return the folder or file that a user named, as a path or as a URI such as file:///data/orders.

    Args:
        name: of the flag or argument, for errors.

    Raises BadInput for places that are not in a file system of this machine, such as s3a://bucket/orders.
    """
    scheme = _find_scheme(text)
    if not scheme:
        return expand_home(text)
    if local := re.fullmatch(r"file:(?://(?:localhost)?)?(/.*)", text, re.IGNORECASE | re.DOTALL):
        return Path(unquote(local[1]))  # ? and # have no special meaning in a folder's name
    raise BadInput(f"{name} {scheme}://... is not a folder on this machine", "name one that is")


def write_path(folder: Place) -> str:
    """Return the text of a folder for Spark to write to."""
    if isinstance(folder, HadoopPath):
        return folder.uri
    path = folder.absolute().as_posix()
    return f"file:{path}" if path.startswith("/") else f"file:/{path}"


def read_path(folder: Place) -> str:
    """Return the text of a folder or file of exactly this name for Spark to read."""
    return re.sub(r"[][{}*?\\]", r"\\\g<0>", write_path(folder))
