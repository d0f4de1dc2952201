"""The streams, buckets and consumers that a benchmark uses, some of which it creates."""

from collections.abc import Mapping
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.units import SECOND
from jsctl.bench.plan import BUCKET, CONSUMER, OBJECTS, STREAM, Plan
from jsctl.errors import ApiError, BadInput, MissingName, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel, fetch_account_info
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import with_filters
from jsctl.jetstream.kv import bucket as buckets
from jsctl.jetstream.kv.names import bucket_to_stream
from jsctl.jetstream.object import buckets as object_buckets
from jsctl.jetstream.object.model import build_stream_name
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM as SCHEMA
from jsctl.nats.error_codes import ErrorCode

_MARK = "io.jsctl.bench"
"""The metadata key of streams that a benchmark created."""

_OWN = (STREAM, bucket_to_stream(BUCKET), build_stream_name(OBJECTS))


def is_own(info: Json) -> bool:
    """Return whether a stream was created for benchmarks."""
    config = info["config"]
    return config["name"] in _OWN or _MARK in (config.get("metadata") or {})


def needs_consent(info: Json) -> bool:
    """Return whether a stream holds messages that no benchmark stored."""
    return not is_own(info) and bool(info["state"]["messages"])


async def build_stream_config(api: Api, plan: Plan, settings: Mapping[str, Any]) -> Json:
    """Return the configuration of a stream to publish to, with batches if the server supports them. settings:
    the keys that flags set."""
    level = int(((await fetch_account_info(api)).get("api") or {}).get("level", 0))
    is_fast = settings.get("persist_mode") == "async"
    config: Json = {
        "name": plan.name,
        "subjects": [f"{plan.subject}.*" if plan.subjects >= 0 else plan.subject],
        "retention": "limits",
        "discard": "new",
        "allow_direct": True,
        "metadata": {_MARK: "stream"},
        **settings,
    }
    if level >= ApiLevel.V2_12 and not is_fast:
        config["allow_atomic"] = True
    if level >= ApiLevel.V2_14 and not is_fast:
        config["allow_batched"] = True
    return config


def list_changes(info: Json, desired: Json) -> list[str]:
    """Return the keys in which an existing stream differs from the desired configuration.

    Raises BadInput for a key that servers cannot change.
    """
    config = info["config"]
    different = [
        key
        for key, value in desired.items()
        if key not in ("name", "metadata") and (config.get(key) or None) != (value or None)
    ]
    for key, word in (("storage", "storage"), ("persist_mode", "persistence")):
        if key in different:
            raise BadInput(
                f"stream {desired['name']} exists with {config.get(key) or 'default'} {word}, which cannot be"
                " changed",
                f"leave out --create, or {build_line('stream rm', desired['name'])}",
            )
    return different


async def change(api: Api, info: Json, desired: Json, keys: list[str]) -> Json:
    """Change these keys of a stream; return its info."""
    config = SCHEMA.without_server_keys(info["config"])
    return await streams.update(api, {**config, **{key: desired[key] for key in keys}})


async def prepare_stream(api: Api, plan: Plan) -> Json:
    """Return the info of the stream that stores what is published. Raises MissingName, BadInput."""
    try:
        info = await streams.fetch_info(api, plan.name)
    except MissingName as error:
        error.hint = f"--create creates it; {error.hint}"
        raise
    if plan.subject:
        subject = f"{plan.subject}.0" if plan.subjects >= 0 else plan.subject
        names = await streams.list_names(api, subject)
        if plan.name not in names:
            other = f"it goes to {', '.join(names)}; --stream names that" if names else "--create adds it"
            raise BadInput(f"stream {plan.name} does not store {subject}", other)
    return info


async def prepare_bucket(api: Api, plan: Plan, settings: Mapping[str, Any]) -> Json:
    """Return the info of a bucket's stream; the benchmarks' own bucket is created when it is missing.

    settings: keys of its configuration. Raises MissingName.
    """
    try:
        return (await buckets.open_bucket(api, plan.name)).info
    except MissingName:
        if plan.name != BUCKET or plan.kind == "kv get":
            raise
    config = {"name": plan.name, "description": "Values of benchmarks", **settings}
    return (await buckets.create(api, config))[0].info


async def prepare_object_bucket(api: Api, plan: Plan, settings: Mapping[str, Any]) -> Json:
    """Return the info of an object bucket's stream; the benchmarks' own bucket is created when it is missing.

    settings: keys of the stream's configuration. Raises MissingName.
    """
    try:
        return await object_buckets.fetch_info(api, plan.name)
    except MissingName:
        if plan.name != OBJECTS or plan.kind == "object get":
            raise
    return (await object_buckets.create(api, plan.name, settings))[0]


async def prepare_consumer(api: Api, plan: Plan) -> str:
    """Return the acknowledgement policy of the consumer.

    The benchmarks' own consumer is created again, so that it begins with the stream's first message; any
    other must exist. Raises MissingName, BadInput.
    """
    await streams.fetch_info(api, plan.name)
    if plan.consumer != CONSUMER:
        config = (await consumers.fetch_info(api, plan.name, plan.consumer))["config"]
        if not consumers.is_pull(config):
            raise BadInput(
                f"consumer {plan.name} > {plan.consumer} is push-based and cannot be pulled from",
                f"{build_line('consumer ls')} lists the consumers",
            )
        return str(config.get("ack_policy") or "explicit")
    await _remove_consumer(api, plan)
    config = {
        "durable_name": plan.consumer,
        "deliver_policy": "all",
        "ack_policy": plan.acks,
        "replay_policy": "instant",
        "max_ack_pending": plan.batch * plan.clients * 2,
        "inactive_threshold": 10 * SECOND,
    }
    if plan.acks == "none":
        del config["max_ack_pending"]
    await consumers.create(api, plan.name, with_filters(config, plan.filters))
    return plan.acks


async def _remove_consumer(api: Api, plan: Plan) -> None:
    try:
        await consumers.delete(api, plan.name, plan.consumer)
    except (MissingName, NotFound):
        return
    except ApiError as error:
        if error.err_code not in (ErrorCode.CONSUMER_NOT_FOUND, ErrorCode.CONSUMER_DOES_NOT_EXIST):
            raise
