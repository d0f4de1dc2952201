"""Streams and consumers that exist, as a file that declares them.

Every key that the server has is written, so that a later diff sees what drifted.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsctl.jetstream.api import Json
from jsctl.jetstream.config import fields as stream_fields
from jsctl.jetstream.config.fields import Field
from jsctl.jetstream.consumer import config as consumer_config
from jsctl.jetstream.declared import schema
from jsctl.jetstream.declared.variables import escape
from jsctl.jetstream.stream import config as configs
from jsctl.units import DAY, HOUR, MINUTE, MS, SECOND

_SPANS = ((DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s"), (MS, "ms"))
_SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def stream(config: Json, consumers: Sequence[Json], place: Mapping[str, str]) -> Json:
    """A stream of a file. place: `context` and `domain`, where they are to be said."""
    own = configs.without_reserved(config)
    made = {"name": own["name"], **place, **_known(own, schema.STREAM, stream_fields.FIELDS)}
    if consumers:
        made["consumers"] = [_consumer(one) for one in consumers]
    return made


def is_lasting(config: Json) -> bool:
    """Whether a consumer stays when nobody uses it."""
    return bool(config.get("durable_name"))


def yaml_pieces(document: Json) -> Iterator[str]:
    """YAML that holds exactly this, durations and sizes as people write them, to the last unit; and
    nothing that a terminal would take for a command. A piece a stream: one of many takes little memory."""
    if place := {key: value for key, value in document.items() if key != "streams"}:
        yield _yaml(place)
    yield "streams:\n" if document["streams"] else "streams: []\n"
    for one in document["streams"]:
        yield _yaml([_human_stream(one)])


def _human_stream(stream: Json) -> Json:
    made = _human(stream, stream_fields.FIELDS)
    if "consumers" in made:
        made["consumers"] = [_human(each, consumer_config.FIELDS) for each in made["consumers"]]
        for each in made["consumers"]:
            if each.get("backoff"):
                each["backoff"] = [_in_units(wait, _SPANS) for wait in each["backoff"]]
    return made


def _yaml(value: Any) -> str:
    import yaml

    # libyaml's is eight times as fast, and not in every build.
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = str(yaml.dump(value, Dumper=dumper, allow_unicode=True, sort_keys=False, width=100))
    if text.replace("\n", "").isprintable():
        return text
    return str(yaml.dump(value, Dumper=dumper, allow_unicode=False, sort_keys=False, width=100))


def _consumer(config: Json) -> Json:
    own = consumer_config.own(config)
    own = {"name": own["durable_name"], **own}
    del own["durable_name"]  # it is the name, unless a file says otherwise
    made = _known(own, schema.CONSUMER, consumer_config.FIELDS)
    return {"name": own["name"], **made}


def _known(config: Json, keys: schema.Keys, fields: Sequence[Field]) -> Json:
    """Known keys in the order of the help; unknown ones below `extra`, whatever their depth."""
    order = {field.path[0]: number for number, field in enumerate(reversed(fields))}
    names = sorted(config, key=lambda key: -order.get(key, -1))
    made: Json = {}
    extra: Json = {}
    for key in names:
        value = config[key]
        if key not in keys:
            extra[key] = value
            continue
        inner = schema.inner_keys(key)
        if isinstance(value, dict) and inner:
            made[key] = {name: one for name, one in value.items() if name in inner}
            if rest := {name: one for name, one in value.items() if name not in inner}:
                extra[key] = rest
        elif isinstance(value, list) and inner:
            made[key] = [_item(one, inner) for one in value]
        else:
            made[key] = value
    made = _escaped(made)
    return {**made, "extra": _escaped(extra)} if extra else made


def _item(value: Any, inner: frozenset[str]) -> Any:
    if not isinstance(value, dict):
        return value
    known = {name: one for name, one in value.items() if name in inner}
    rest = {name: one for name, one in value.items() if name not in inner}
    return {**known, "extra": rest} if rest else known


def _escaped(value: Any) -> Any:
    """`{{name}}` on a server is text."""
    if isinstance(value, dict):
        return {escape(str(key)): _escaped(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_escaped(one) for one in value]
    return escape(value) if isinstance(value, str) else value


def _human(config: Json, fields: Sequence[Field]) -> Json:
    made = dict(config)
    for field in fields:
        units = {"span": _SPANS, "size": _SIZES}.get(field.kind)
        above, value = made, configs.get(made, field.path)
        if not units or not isinstance(value, int):
            continue
        for key in field.path[:-1]:
            above[key] = above = dict(above[key])
        above[field.path[-1]] = _in_units(value, units)
    return made


def _in_units(value: int, units: Sequence[tuple[int, str]]) -> int | str:
    """The largest unit that leaves nothing over."""
    for size, unit in units:
        if value >= size and not value % size:
            return f"{value // size}{unit}"
    return value
