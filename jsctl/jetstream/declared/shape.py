"""The shape of a new stream with its consumers: equal for streams that differ only in their names and in the
words of their subjects, so that servers accept all of them or none.

A server compares the words of subjects with each other and with names of its own, which begin with `$` or
`_`; what else they are does not matter to it (server: stream.go checkStreamCfg, consumer.go
checkConsumerCfg). Of descriptions and metadata it limits the size.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from jsctl.jetstream.api import Json

_SUBJECTS = frozenset(
    (
        "subjects",
        "filter_subject",
        "filter_subjects",
        "deliver_subject",
        "src",
        "dest",
        "name",
        "durable_name",
    )
)
_WORD = re.compile(r"[A-Za-z0-9-][\w-]{0,63}", re.ASCII)


def compute_shape(configs: Sequence[Json]) -> str:
    """Return a text that is equal for equal shapes. configs: of a stream, and of its consumers."""
    words: dict[str, str] = {}

    def name_word(token: str) -> str:
        return words.setdefault(token, f"w{len(words)}") if _WORD.fullmatch(token) else token

    def reduce(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            if key == "metadata":
                return {name: len(str(text)) for name, text in value.items()}
            return {name: reduce(name, item) for name, item in value.items()}
        if isinstance(value, list):
            return [reduce(key, item) for item in value]
        if not isinstance(value, str):
            return value
        if key in _SUBJECTS:
            return ".".join(map(name_word, value.split(".")))
        return len(value) if key == "description" else value

    return json.dumps([reduce("", config) for config in configs], sort_keys=True)
