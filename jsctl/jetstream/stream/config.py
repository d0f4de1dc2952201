"""Stream configurations as raw JSON: where each flag goes, files, defaults, checks.

A configuration is the server's own JSON object and stays one: what jsctl has no name for travels along.
"""

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal

from jsctl.errors import BadInput
from jsctl.jetstream.config.fields import BY_FLAG, DEFAULTS, DUPLICATE_WINDOW, FIELDS, REMOVALS, Field
from jsctl.jetstream.stream.origins import api_of, origins_of, parse_origin
from jsctl.nats.subjects import check_name, is_subject, split_subjects
from jsctl.units import format_rfc3339, parse_bytes, parse_duration

Json = dict[str, Any]
Noun = Literal["stream", "consumer"]
_OF_INFO = frozenset({"created", "state", "delivered"})  #: what an info has beside its configuration
_GONE = ("template_owner",)  # stream templates are no longer in the server, and it refuses their keys


def lay(
    config: Json,
    given: Mapping[str, Any],
    by_flag: Mapping[str, Field] = BY_FLAG,
    removals: Mapping[str, str] = REMOVALS,
) -> Json:
    """A copy of `config` with the values of flags laid over it. `given`: value by flag, as the flag's
    kind has it (bool for switches, as said on the command line). Raises BadInput."""
    made = copy.deepcopy(config)
    for flag, value in given.items():
        if flag in removals:
            if value:
                made.pop(removals[flag], None)
            continue
        _put(made, by_flag[flag].path, _stored(by_flag[flag], value, made))
        if flag == "discard-per-subject" and value:
            made["discard"] = "new"
    return made


def with_defaults(config: Json) -> Json:
    """A new stream's configuration, what is left out filled in. Values that are there win."""
    made = {**DEFAULTS, **config}
    if "mirror" not in made and "duplicate_window" not in made:
        made["duplicate_window"] = default_window(int(made["max_age"]))
    return made


def default_window(max_age: int) -> int:
    """ns: two minutes, or the maximum age where that is shorter, as the server wants."""
    return min(DUPLICATE_WINDOW, max_age) if max_age > 0 else DUPLICATE_WINDOW


def parse_config(text: str, name: str) -> Json:
    """A stream's configuration from JSON or YAML, or from a whole `info --json` document. `name` is the
    file's.

    Durations and sizes may be written as people do (`max_age: 1d`). What the server owns (`_nats.*`
    metadata) is left out. Raises BadInput.
    """
    return without_reserved(read_config(text, name, "stream", FIELDS))


def read_config(text: str, name: str, noun: Noun, fields: Sequence[Field]) -> Json:
    """The configuration in a file called `name`, which may be a whole `info --json` document of a `noun`.
    Raises BadInput."""
    found = read_document(text, name)
    config = found.get("config")
    if not isinstance(config, dict):
        config = found
    elif (other := "consumer" if "stream_name" in found else "stream" if "state" in found else noun) != noun:
        raise BadInput(f"{name} is a {other}'s document, not a {noun}'s")
    if not config or config.keys() & _OF_INFO:
        raise BadInput(f"{name} holds no {noun} configuration")
    return read_human(config, name, fields)


def read_document(text: str, name: str) -> Json:
    """The object in a JSON or YAML file, times as text. Raises BadInput."""
    try:
        found = json.loads(text)
    except ValueError:
        import yaml

        try:
            found = yaml.safe_load(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"{name}:{mark.line + 1}" if mark else name
            raise BadInput(f"{where}: {getattr(error, 'problem', None) or 'neither JSON nor YAML'}") from None
    if not isinstance(found, dict):
        raise BadInput(f"{name} holds no configuration", "it should be a JSON or YAML object")
    plain: Json = _plain(found)
    return plain


def read_human(config: Json, name: str = "the configuration", fields: Sequence[Field] = FIELDS) -> Json:
    """Durations, sizes and single subjects written as people do, turned into the server's form."""
    made = copy.deepcopy(config)
    for field in fields:
        value = get(made, field.path)
        if not isinstance(value, str):
            continue
        try:
            if field.kind == "span":
                _put(made, field.path, 0 if value == "-1" else parse_duration(value))
            elif field.kind == "size":
                _put(made, field.path, parse_bytes(value))
            elif field.kind == "subjects":
                _put(made, field.path, split_subjects([value]))
        except ValueError as error:
            raise BadInput(f"{name}: {'.'.join(field.path)}: {error}") from None
    return made


def without_reserved(config: Json) -> Json:
    """The configuration without what the server writes into it, and without keys of old servers."""
    made = without_metadata(config, lambda key: key.startswith("_nats."))
    return {key: value for key, value in made.items() if key not in _GONE}


def without_metadata(config: Json, drop: Callable[[str], bool]) -> Json:
    """The configuration without some keys of its metadata, and without any metadata when none is left."""
    if not isinstance(config.get("metadata"), dict):
        return config
    kept = {key: value for key, value in config["metadata"].items() if not drop(key)}
    made = {**config, "metadata": kept}
    if not kept:
        del made["metadata"]
    return made


def check(config: Json) -> None:
    """What can be told to be wrong without a server. Raises BadInput with all of it."""
    refuse(problems(config))


def refuse(wrong: Sequence[str], at: str = "") -> None:
    """Raises BadInput with all that is wrong, and where (`file.yaml:3`)."""
    if wrong:
        raise BadInput(f"{at}: {'; '.join(wrong)}" if at else "; ".join(wrong))


def problems(config: Json) -> list[str]:
    """What is wrong with a configuration, a sentence each."""
    if wrong := misshapen(config, str(config.get("name") or ""), "stream", FIELDS):
        return wrong
    subjects = config.get("subjects") or []
    republish, transform = config.get("republish"), config.get("subject_transform") or {}
    rules = (
        (config.get("mirror") and subjects, "a mirror takes no --subjects of its own"),
        (config.get("mirror") and config.get("sources"), "a stream has a --mirror or --sources, not both"),
        (
            ">" in subjects and not config.get("no_ack"),
            "the subject '>' needs --no-ack: acknowledgements would be stored too",
        ),
        (int(config.get("max_msg_size", -1)) >= 1 << 31, "--max-msg-size is at most 2 GiB"),
        (int(config.get("num_replicas", 1)) < 1, "--replicas is at least 1"),
        (republish is not None and not republish.get("dest"), "--republish-destination is missing"),
        (republish is not None and not republish.get("src"), "--republish-source is missing"),
        (transform.get("src") and not transform.get("dest"), "--transform-destination is missing"),
    )
    wrong = [f"{subject!r} is no subject" for subject in subjects if not is_subject(subject)]
    return wrong + [told for broken, told in rules if broken]


def misshapen(config: Json, name: str, noun: Noun, fields: Sequence[Field]) -> list[str]:
    """What is wrong with a name, and with the types of values, a sentence each."""
    wrong = []
    try:
        check_name(name, noun)
    except ValueError as error:
        wrong.append(str(error))
    for field in fields:
        value = get(config, field.path)
        if value is not None and not fits(field, value):
            wrong.append(f"{'.'.join(field.path)} is {_cut(value)}; it takes {_takes(field)}")
    return wrong


def warnings(config: Json, domain: str = "") -> list[str]:
    """What the server takes but does not do as it reads. domain: the one that the stream is in."""
    found = [
        f"{origin['name']}@{domain} is never reached: that is the stream's own domain; write {origin['name']}"
        for origin in origins_of(config)
        if domain and get(origin, ("external", "api")) == api_of(domain)
    ]
    for transform in _transforms(config):
        found.extend(
            f"{token!r} in {transform!r} is text to the server: a mapping function has to be a whole token"
            for token in transform.split(".")
            if re.search(r"\{\{.*\}\}|\$\d", token) and not re.fullmatch(r"\{\{.*\}\}|\$\d+", token)
        )
    return found


def needed_levels(config: Json) -> dict[int, list[str]]:
    """Flags that a configuration uses, by the API level they need."""
    needs: dict[int, list[str]] = {}
    for field in FIELDS:
        value = get(config, field.path)
        if field.level and value and value != "default":
            needs.setdefault(field.level, []).append(f"--{field.flag}")
    if any(origin.get("consumer") for origin in origins_of(config)):
        needs.setdefault(4, []).append("a durable consumer of a mirror or source")
    return needs


def _stored(field: Field, value: Any, config: Json) -> Any:
    match field.kind:
        case "subjects":
            return split_subjects(value)
        case "texts":
            return split_subjects(value)
        case "inverse":
            return not value
        case "choice":
            return field.choices[str(value).lower()]
        case "map":
            return {**(config.get(field.path[0]) or {}), **_pairs(field.flag, value)}
        case "origin":
            return parse_origin(value) if isinstance(value, str) else value
        case "origins":
            return [parse_origin(one) if isinstance(one, str) else one for one in value]
        case _:
            return value


def _pairs(flag: str, texts: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        key, mark, value = text.partition("=") if "=" in text else text.partition(":")
        if not mark or not key:
            raise BadInput(f"--{flag} {text!r} is not KEY=VALUE")
        if key.startswith("_nats."):
            raise BadInput(f"--{flag} {key!r} belongs to the server")
        pairs[key] = value
    return pairs


def get(config: Json, path: Sequence[str]) -> Any:
    """What is at a path of keys, None where there is nothing."""
    value: Any = config
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _put(config: Json, path: Sequence[str], value: Any) -> None:
    for key in path[:-1]:
        inner = config.get(key)
        config[key] = config = dict(inner) if isinstance(inner, dict) else {}
    config[path[-1]] = value


def fits(field: Field, value: Any) -> bool:
    """Whether a field can have this value, going by its type."""
    if field.kind == "choice":
        return value in field.choices.values()
    return _SHAPES.get(field.kind, _NUMBER)[1](value)


def _takes(field: Field) -> str:
    if field.kind == "choice":
        return " or ".join(dict.fromkeys(field.choices.values()))
    return _SHAPES.get(field.kind, _NUMBER)[0]


def _cut(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_origin(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("name"))


Shape = tuple[str, Callable[[Any], bool]]
_SHAPES: Mapping[str, Shape] = {
    "text": ("a text", _is_text),
    "texts": ("a list of texts", _are_texts),
    "subjects": ("a list of subjects", _are_texts),
    "switch": ("true or false", lambda value: isinstance(value, bool)),
    "inverse": ("true or false", lambda value: isinstance(value, bool)),
    "map": ("texts by text", lambda value: isinstance(value, dict) and all(map(_is_text, value.values()))),
    "origin": ("an object with a name", _is_origin),
    "origins": (
        "a list of objects with names",
        lambda value: isinstance(value, list) and all(map(_is_origin, value)),
    ),
}
_NUMBER: Shape = ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool))


def _transforms(config: Json) -> list[str]:
    destinations = [
        get(config, ("subject_transform", "dest")),
        get(config, ("republish", "dest")),
    ]
    for origin in origins_of(config):
        destinations.extend(one.get("dest") for one in origin.get("subject_transforms") or [])
    return [one for one in destinations if isinstance(one, str)]


def _plain(value: Any) -> Any:
    """YAML knows times; JSON and the server do not."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return format_rfc3339(value)
    return value.isoformat() if isinstance(value, date) else value
