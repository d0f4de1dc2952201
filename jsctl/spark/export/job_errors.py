"""The errors of an export's failed Spark jobs."""

import re

from jsctl import errors
from jsctl.errors import JsctlError
from jsctl.spark.session.spark_errors import extract_message, find_full_folder, find_missing_dependency
from jsctl.spark.source.range_reader import DataLoss

_OPTION_TO_FLAG = {
    "set failOnDataLoss to false": "--no-fail-on-data-loss is there",
    "set failOnDeleted to false": "leave --fail-on-deleted out",
}
"""Hints of the data source that name an option -> the same with the flag of `jsctl export stream`."""


def job_error(error: Exception) -> JsctlError:
    """Return the error of a failed job: that of our task, with its exit status, or otherwise Spark's."""
    if isinstance(error, DataLoss):  # in this process, or when the job was planned
        return DataLoss(_replace_options_by_flags(str(error)))
    if isinstance(error, JsctlError):
        return error
    text = str(error)
    if missing := find_missing_dependency(text):
        return missing
    raised = re.findall(r"^(?:[\w.]*: )?jsctl\.[\w.]*\.(\w+): (.*)$", text, re.MULTILINE)
    if raised:
        name, message = raised[-1]
        message = _replace_options_by_flags(message)
        kind = DataLoss if name == "DataLoss" else getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, JsctlError) and kind.__init__ is JsctlError.__init__:
            return kind(message)
        return JsctlError(message)
    if folder := find_full_folder(text):
        return JsctlError(f"Spark cannot write to {folder}: {extract_message(error)}")
    return JsctlError(f"Spark failed: {extract_message(error)}")


def _replace_options_by_flags(message: str) -> str:
    """Return a message of the data source with flags instead of options, which the user did not set."""
    for option, flag in _OPTION_TO_FLAG.items():
        message = message.replace(option, flag)
    return message.replace(", after startingOffsets ", ", after the requested ")
