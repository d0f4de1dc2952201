"""The schema of a noun's configuration: flags, files, validation and defaults, derived from its fields.

A configuration is the server's own JSON object and stays one: keys that jsctl does not know are kept.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from jsctl.base.command_lines import build_flag
from jsctl.base.similar_names import find_nearest
from jsctl.base.units import MS, pluralize
from jsctl.errors import BadInput, collecting, raise_all
from jsctl.jetstream.config.field import Field
from jsctl.jetstream.config.kind import (
    Anything,
    Json,
    KeepKey,
    Kind,
    Text,
    is_server_metadata,
    keep_newer,
    merge,
    refuse_unknown,
)
from jsctl.jetstream.config.kinds import Map, Switch
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.numbers import Duration, Number
from jsctl.jetstream.shape_check import Shape
from jsctl.nats.subjects import validate_name

_INFO_KEYS = frozenset({"created", "state", "delivered"})  #: keys of an info besides its configuration
_ANYTHING = Anything()
_TEXT = Text()


class Object(Kind):
    """An object with known keys. what: its name in errors; empty to use its key. needs: required keys."""

    takes = "an object"

    def __init__(self, fields: Iterable[Field], *, what: str = "", needs: Sequence[str] = ()) -> None:
        self.what = what
        self.fields = tuple(field.with_flag() for field in fields)
        self._needs = needs
        inner: dict[str, list[Field]] = {}
        self.kinds: dict[str, Kind] = {}
        for field in self.fields:
            head, _, rest = field.key.partition(".")
            if rest:
                inner.setdefault(head, []).append(field._replace(key=rest))
            self.kinds[head] = field.kind
        self.kinds |= {head: Object(below) for head, below in inner.items()}
        self.shape = Shape({name: kind.shape for name, kind in self.kinds.items()}, needs)

    def read(
        self, node: Node, key: str, *, keep: KeepKey = refuse_unknown, ignored: frozenset[str] = frozenset()
    ) -> Json:
        """Read an object. Keys that are newer than jsctl may be below `extra`.

        ignored: keys that do not belong to the configuration. Raises BadInput, BadInputs for several errors.
        """
        what = self.what or key
        config: Json = {}
        errors: list[BadInput] = []
        for name, member in node.as_object(what).items():
            if name in ignored or name == "extra":
                continue
            with collecting(errors):
                is_kept = name in self.kinds or keep(name, self.kinds, node.value)
                if is_kept is None:
                    continue
                if not is_kept:
                    raise member.error(f"unknown key {name!r} of {what}", self.find_hint(name, ignored))
                kind = self.kinds.get(name, _ANYTHING)
                config[name] = None if member.value is None else kind.read(member, name, keep=keep)
        raise_all(errors)
        for name in self._needs:
            if not config.get(name):
                raise node.error(f"{key} needs {name}")
        extra = node.value.get("extra")
        if extra and extra.as_object("extra"):
            return merge(config, extra.to_json(), keep_none=True)
        return config

    def find_number_warnings(self, node: Node) -> Iterator[str]:
        """Yield a warning, with file and line, for each number of an object, and of those below it, that YAML
        or the server reads otherwise than people."""
        for key, member in node.as_object("this").items():
            below = self.kinds.get(key)
            if isinstance(below, Object) and isinstance(member.value, dict):
                yield from below.find_number_warnings(member)
            if not isinstance(below, Number) or type(member.value) is not int:
                continue
            text, number = member.text, member.value
            place = f"{member.position}: {key}: {text}"
            if re.fullmatch(r"[-+]?0[0-7_]+", text):
                yield f"{place} is octal in YAML, {number}"
            elif ":" in text:
                yield f"{place} is a number of base 60 in YAML, {number}"
            elif isinstance(below, Duration) and 0 < number < MS:
                yield f"{place} is {pluralize(number, 'nanosecond')}; write a unit such as {text}s"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict) and all(value.get(name) for name in self._needs)

    def check_value(self, value: Any, key: str) -> Iterator[str]:
        yield from super().check_value(value, key)
        for name, item in value.items() if isinstance(value, dict) else ():
            if name in self.kinds and item is not None:
                yield from self.kinds[name].check_value(item, f"{key}.{name}" if key else name)

    def write(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            name: self.kinds[name].write(item) if name in self.kinds else item for name, item in value.items()
        }

    def find_hint(self, key: str, other_keys: Iterable[str] = ()) -> str:
        """Return what to do about an unknown key. other_keys: valid keys besides those of the
        configuration."""
        flag = key.replace("_", "-").lower()
        for field in self.fields:
            if flag == field.flag:
                return f"it is {field.key} here"
        nearest = find_nearest(key, [*self.kinds, *other_keys])
        newer = "a key that is newer than jsctl goes below `extra:`"
        return f"did you mean {nearest!r}? {newer}" if nearest else newer


class Schema(Object):
    """The configuration of a noun, such as "stream".

    removals: flags of `edit` that remove a key, by flag. by_key, by_flag: its fields. assumed: the defaults
    of the keys that are `written`. A file has none: what it leaves out is not sent.

    Subclasses add the rules of one noun: `find_violations`, `with_defaults`, `without_server_keys`, `update`.
    """

    obsolete: frozenset[str] = frozenset()
    """Keys of files, or of old servers, that new servers refuse; they are removed."""

    always_written: ClassVar[Mapping[str, Any]] = {}
    """Keys that a written configuration has in any case, as servers and the `nats` tool write them, and their
    values for a configuration without them."""

    written: tuple[str, ...] = ()
    """Keys that a configuration from flags or questions has in any case, as that of the `nats` tool."""

    def __init__(self, noun: str, fields: Iterable[Field], removals: Mapping[str, str] | None = None) -> None:
        super().__init__(fields, what=f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}")
        self.noun = noun
        self.removals: Mapping[str, str] = removals or {}
        self.by_key = {field.key: field for field in self.fields}
        self.by_flag = {field.flag: field for field in self.fields if field.flag}
        self.assumed = {key: self.by_key[key].default for key in self.written if key in self.by_key}

    # Overridden by nouns.

    def find_violations(self, config: Json) -> Iterator[str]:
        """Yield the rules of the noun that a configuration of valid values breaks, one sentence for each."""
        yield from ()

    def with_defaults(self, config: Json) -> Json:
        """Return a copy of a configuration from flags or questions with defaults for the keys that it
        lacks."""
        return {**self.assumed, **config}

    def with_assumed(self, config: Json) -> Json:
        """Return a copy of a configuration with what the server makes of the keys that it lacks."""
        return {**self.assumed, **config}

    def without_defaults(self, config: Json, given: Collection[str]) -> Json:
        """Return a new configuration without what the server makes of missing keys: another server may lack
        them. given: keys that stay."""
        return {
            key: value for key, value in config.items() if key in given or not self._is_default(key, value)
        }

    def _is_default(self, key: str, value: Any) -> bool:
        field = self.by_key.get(key)
        # No server turns a switch on by itself.
        is_off = field is not None and isinstance(field.kind, Switch) and not value
        return field is not None and (is_off or value == field.default)

    def without_server_keys(self, config: Json) -> Json:
        """Return the configuration without the keys that the server adds, and without obsolete ones."""
        stripped = without_metadata(config, is_server_metadata)
        return {key: value for key, value in stripped.items() if key not in self.obsolete}

    def update(self, live: Json, changes: Json) -> Json:
        """Return a live configuration with the top-level keys of `changes` applied to it."""
        return {**live, **changes}

    # Derived from the fields.

    def list_flags(self, verb: str) -> list[Field]:
        """Return the fields for which a verb ("add", "edit", "copy") has a flag."""
        return [field for field in self.by_flag.values() if not (field.create_only and verb == "edit")]

    def find_kind(self, key: str) -> Kind:
        """Return the kind of a key written with dots."""
        kind: Kind = self
        for name in key.split("."):
            if isinstance(kind, Map):
                return _TEXT
            kind = kind.kinds.get(name, _ANYTHING) if isinstance(kind, Object) else _ANYTHING
        return kind

    def apply_flags(self, config: Json, values: Mapping[str, Any]) -> Json:
        """Return a copy of the configuration with the values of flags applied to it.

        values: by flag; a sequence for a repeatable flag. Raises BadInput.
        """
        from copy import deepcopy  # only where it is needed

        updated = deepcopy(config)
        for flag, value in values.items():
            if flag in self.removals:
                if value:
                    updated.pop(self.removals[flag], None)
                continue
            field = self.by_flag[flag]
            put_value(updated, field.path, _to_stored(field, value, get_value(updated, field.path)))
        return updated

    def to_flags(self, config: Json) -> list[str]:
        """Return the words of a command line from which `apply_flags` and `with_defaults` make this
        configuration, without those that defaults make unnecessary."""
        words: list[str] = []
        for field in self.by_flag.values():
            value = get_value(config, field.path)
            without_key = {key: item for key, item in config.items() if key != field.key}
            if value is None or value == field.default or self.with_defaults(without_key) == config:
                continue
            if isinstance(field.kind, Switch):
                words.append(f"--{field.flag}" if field.kind.from_flag(value) else f"--no-{field.flag}")
                continue
            for text in field.kind.to_flag_texts(value):
                words += build_flag(f"--{field.flag}", text)
        return words

    def parse_config(
        self, text: str, file: str, *, live: Json | None = None, unknown: KeepKey = refuse_unknown
    ) -> Json:
        """Parse a configuration from JSON or YAML, or from a whole `info --json` document.

        Durations, sizes and choices may be written as in flags. The server's own keys are left out.

        Args:
            file: the name, for errors.
            live: the configuration that the text was made from; its keys are valid.
            unknown: what becomes of unknown keys.

        Raises BadInput, also for unknown keys that are not left out: those that are newer than jsctl may be
        below `extra`, or in the document of a server.
        """
        from jsctl.jetstream.config.documents import parse_document  # only for files

        document = parse_document(text, file)
        node = document.value.get("config")
        if node is None or not isinstance(node.value, dict):
            node = document
        elif (noun := _identify_noun(document.value)) not in ("", self.noun):
            raise BadInput(f"{file} is a {noun}'s document, not a {self.noun}'s")
        if not node.value or node.value.keys() & _INFO_KEYS:
            raise BadInput(f"{file} holds no {self.noun} configuration")
        keep: KeepKey = keep_newer if _identify_noun(document.value) else unknown
        if live is not None:
            keep = _keep_keys_of(live)
        config = self.read(node, self.what, keep=keep, ignored=self.obsolete)
        return self.without_server_keys(config)

    def find_problems(self, config: Json) -> list[str]:
        """Return the problems of a configuration that can be found without a server, one sentence each."""
        problems = list(self.check_value(config, ""))
        try:
            validate_name(self.get_name(config), self.noun)
        except ValueError as error:
            problems.insert(0, str(error))
        return problems or list(self.find_violations(config))

    def validate(self, config: Json) -> None:
        """Raise BadInput with all problems."""
        if problems := self.find_problems(config):
            raise BadInput("; ".join(problems))

    def get_name(self, config: Json) -> str:
        """Return the name in a configuration; empty if there is none."""
        return str(config.get("name") or "")

    def find_needed_levels(self, config: Json) -> dict[int, list[str]]:
        """Return the flags that a configuration uses, by the API level that they need."""
        needs: dict[int, list[str]] = {}
        for field in self.by_flag.values():
            value = get_value(config, field.path) if field.level else None
            if value and value != field.default:
                needs.setdefault(field.level, []).append(f"--{field.flag}")
        return needs


def get_value(config: Json, path: Sequence[str]) -> Any:
    """Return the value at a path of keys; None when a key is missing."""
    value: Any = config
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def put_value(config: Json, path: Sequence[str], value: Any) -> None:
    """Put a value at a path of keys; objects on the way are copied, or created."""
    for key in path[:-1]:
        inner = config.get(key)
        config[key] = config = dict(inner) if isinstance(inner, dict) else {}
    config[path[-1]] = value


def without_metadata(config: Json, drop: Callable[[str], bool]) -> Json:
    """Return the configuration without the metadata keys for which `drop` returns True, and without
    `metadata` when none is left."""
    if not isinstance(config.get("metadata"), dict):
        return config
    metadata = {key: value for key, value in config["metadata"].items() if not drop(key)}
    bare = {key: value for key, value in config.items() if key != "metadata"}
    return {**config, "metadata": metadata} if metadata else bare


def _to_stored(field: Field, value: Any, present: Any) -> Any:
    """Return the value of a flag in the server's form."""
    kind = field.kind
    if isinstance(kind, Switch):
        return kind.from_flag(value)
    try:
        if kind.repeatable:
            return kind.collect(value, present)
        return kind.parse(value) if isinstance(value, str) else value
    except ValueError as error:
        raise BadInput(f"--{field.flag}: {error}") from None


def _keep_keys_of(live: Json) -> KeepKey:
    live_keys = frozenset(_list_all_keys(live))

    def keep(key: str, known_keys: Collection[str], present_keys: Collection[str]) -> bool:
        return key in live_keys

    return keep


def _list_all_keys(value: Any) -> Iterator[str]:
    """Yield the keys of an object and of all objects in it."""
    if isinstance(value, dict):
        yield from value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _list_all_keys(item)


def _identify_noun(document: Mapping[str, Node]) -> str:
    """Return the noun of a whole `info --json` document: "stream" or "consumer"; empty for other
    documents."""
    return "consumer" if "stream_name" in document else "stream" if "state" in document else ""
