"""The messages of Spark's errors, and the causes that can be found in them."""

import re
from urllib.parse import unquote

from jsctl.errors import JsctlError, MissingDependency

_PYTHON_HINT = "PYSPARK_PYTHON names the Python of the executors"


DISK_FULL = "No space left on device"


def read_text(error: BaseException, default: str = "") -> str:
    """Return the text of an error. default: for a Java error, whose text is in a JVM that may be gone."""
    try:
        return str(error)
    except Exception:
        return default


def extract_message(error: BaseException) -> str:
    """Return the message of a Spark error without its class, SQLSTATE and Java stack. For a call that failed
    in the JVM it is the cause; for a failed task, what its Python raised; for a full disk, always
    DISK_FULL."""
    text = read_text(error, "the JVM has ended")
    if DISK_FULL in text:
        return DISK_FULL
    lines = text.strip().splitlines()
    line = next(iter(lines), "") or type(error).__name__
    if line.startswith("An error occurred while calling"):  # it only names the function that was called
        causes = re.findall(r"^(?:Caused )?(?:by)?: [\w.$]+: (.+)", text, re.MULTILINE)
        line = causes[-1] if causes else line
    elif line.startswith("An exception was thrown from the Python worker"):
        raised = re.search(r"^\S.*", text.rpartition("Traceback (most recent call last):\n")[2], re.MULTILINE)
        line = raised[0] if raised else line
    return re.sub(r"^\[[A-Z0-9_.]+\] | SQLSTATE: .*", "", line)


def find_full_folder(text: str) -> str:
    """Return the folder of an export whose disk was full, from the text of a failed job; empty for other
    failures."""
    match = re.search(r"file:/*(/\S*?)/\.staging/", text) if DISK_FULL in text else None
    return unquote(match[1]) if match else ""


def find_damaged_file(error: BaseException) -> str:
    """Return the path of the file that Spark could not read; empty for other failures."""
    pattern = r"(?:while reading|read footer for) file:? (?:file:/*(?=/))?(.+?)\.\s+SQLSTATE"
    match = re.search(pattern, read_text(error))
    return unquote(match[1]) if match else ""


def find_missing_dependency(text: str) -> JsctlError | None:
    """Return the error for a package or Python that executors lack, from the text of a failed job; None for
    other failures."""
    if match := re.search(r"has different version: (\d+\.\d+) than that in driver: (\d+\.\d+)", text):
        message = f"the executors have Python {match[1]}, this machine has {match[2]}"
        return MissingDependency(message, _PYTHON_HINT)
    if re.search(r"(PACKAGE_NOT_INSTALLED\] PyArrow|No module named '?pyarrow)", text):
        return MissingDependency("the executors have no pyarrow", f"install it there; {_PYTHON_HINT}")
    if match := re.search(r'Cannot run program "([^"]+)"', text):
        return MissingDependency(f"the executors have no Python at {match[1]}", _PYTHON_HINT)
    return None
