"""Folders of this machine in the words of Spark, whatever characters their names have.

Spark takes the text after `file:` as it is: `Path.as_uri` would encode a blank as %20, and Spark would write
to another folder, whose name has %20 in it. Where Spark reads, brackets, braces, * and ? are a pattern
(Hadoop's FileSystem.globStatus), unless a backslash is before them.
"""

import re
from pathlib import Path


def write_path(folder: Path) -> str:
    """Return what Spark is to write to."""
    path = folder.absolute().as_posix()
    return f"file:{path}" if path.startswith("/") else f"file:/{path}"


def read_path(folder: Path) -> str:
    """Return what Spark is to read from: the folder or file of exactly this name."""
    return re.sub(r"[][{}*?\\]", r"\\\g<0>", write_path(folder))
