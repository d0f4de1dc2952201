"""Where `--output` of add puts a configuration."""

import json
from pathlib import Path

from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.views.result import Result, Text


def saved(config: Json, output: str, what: str) -> Result:
    """Write a configuration to a file, or with `-` to stdout. what: "stream ORDERS". Raises BadInput."""
    text = json.dumps(config, indent=2, ensure_ascii=False)
    if output == "-":
        return Result([Text(text)], data=config)
    try:
        Path(output).expanduser().write_text(text + "\n")
    except OSError as error:
        raise BadInput(f"cannot write {output}: {error.strerror}") from None
    return Result([Text(f"wrote the configuration of {what} to {output}")], data=config)
