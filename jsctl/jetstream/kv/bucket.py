"""Buckets: listed, opened, created, updated and removed."""

from collections.abc import Collection
from functools import partial
from typing import NamedTuple

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.base.units import SECOND
from jsctl.errors import ApiError, JsctlError, MissingName
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json, build_api_prefix
from jsctl.jetstream.kv.codec import PLAIN, Codec
from jsctl.jetstream.kv.names import bucket_to_stream, build_subject_prefix, is_bucket, stream_to_bucket
from jsctl.jetstream.paging import Collected
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.error_codes import ErrorCode

_TIMEOUT = 2 * SECOND  #: ns that an origin elsewhere may take to answer


class Bucket(NamedTuple):
    """A bucket that exists.

    info: its stream's, as the server sent it. prefix: of the subjects of its stored keys; those of a mirror
    contain the origin's name. target: the prefix of the subject to which a key's values are published; those
    of a mirror go to its origin. codec: of the keys that are shown; elsewhere they are as they are stored.
    """

    api: Api
    name: str
    info: Json
    prefix: str
    target: str
    codec: Codec = PLAIN

    @property
    def stream(self) -> str:
        """The name of the stream that holds it."""
        return bucket_to_stream(self.name)

    @property
    def stream_config(self) -> Json:
        """The configuration of that stream."""
        config: Json = self.info["config"]
        return config

    @property
    def config(self) -> Json:
        """The bucket's own configuration."""
        from jsctl.jetstream.kv import config as configs  # `kv get` does not need it

        return configs.BUCKET.from_stream(self.stream_config)

    @property
    def allows_direct(self) -> bool:
        """Whether replicas and mirrors answer reads."""
        return bool(self.stream_config.get("allow_direct"))

    def subject_to_key(self, subject: str) -> str:
        """Return the key of a stored subject."""
        return subject.removeprefix(self.prefix)

    def decode_key(self, key: str) -> str:
        """Return a stored key as people call it. Raises JsctlError for one that the codec has not made."""
        try:
            return self.codec.decode(key)
        except ValueError:
            raise JsctlError(
                f"key {key} of bucket {self.name} cannot be decoded by {' '.join(self.codec.flags)}",
                "leave --codec out to see keys as they are stored, or name keys that it encoded",
            ) from None

    def build_key_line(self, verb: str, key: str) -> str:
        """Return a command line about a stored key."""
        return build_line(verb, self.name, self.decode_key(key), flags=self.codec.flags)


async def list_names(api: Api) -> list[str]:
    """Return the names of all buckets."""
    return [stream_to_bucket(name) for name in await streams.list_names(api, "") if is_bucket(name)]


async def collect(api: Api) -> Collected[Json]:
    """Return the infos of the streams of all buckets (see `paging.collect`)."""
    return await streams.collect(
        api, lambda info: info if is_bucket(str(info["config"]["name"])) else None, subject=""
    )


async def open_bucket(api: Api, name: str) -> Bucket:
    """Fetch a bucket. Raises MissingName."""
    try:
        info = await streams.fetch_info(api, bucket_to_stream(name))
    except ApiError as error:
        if error.err_code == ErrorCode.STREAM_NOT_FOUND:
            raise build_missing_error(api, name) from None
        raise
    return _build_bucket(api, name, info)


def _build_bucket(api: Api, name: str, info: Json) -> Bucket:
    prefix_here = build_subject_prefix(name)
    prefix = target = prefix_here
    if mirror := info["config"].get("mirror"):
        origin = build_subject_prefix(stream_to_bucket(str(mirror["name"])))
        prefix, target = _find_stored_prefix(mirror, origin), origin
        if external := (mirror.get("external") or {}).get("api"):
            return Bucket(api, name, info, prefix, f"{external}.{origin}")
    if api.prefix != build_api_prefix():
        target = f"{api.prefix}.{target}"  # the server maps $JS.<domain>.API.$KV to $KV there
    return Bucket(api, name, info, prefix, target)


def _find_stored_prefix(mirror: Json, origin: str) -> str:
    """Return the prefix of the subjects in a mirror."""
    for transform in mirror.get("subject_transforms") or []:
        if transform.get("src") == f"{origin}>" and str(transform.get("dest")).endswith(".>"):
            return str(transform["dest"])[:-1]
    return origin


async def follow_origins(api: Api, config: Json, given: Collection[str]) -> tuple[Json, list[str]]:
    """Return the configuration of a new bucket with what keeps it like its origins, and the names of those
    that could not be asked for it: a mirror gets the history of its origin, unless it is given, and where an
    origin allows keys that expire, they do in the copy, too.

    config: the bucket's own. Raises MissingName for a mirror or source of this domain that does not exist:
    servers create such a one.
    """
    config, unknown = dict(config), []
    for origin in [*filter(None, [config.get("mirror")]), *(config.get("sources") or [])]:
        name = stream_to_bucket(str(origin["name"]))
        prefix = str((origin.get("external") or {}).get("api") or "")
        try:
            far = Api(api.connection, prefix=prefix, timeout=min(api.timeout, _TIMEOUT))
            stream = (await open_bucket(far if prefix else api, name)).stream_config
        except JsctlError:
            if not prefix:
                raise
            unknown.append(name)
            continue
        if origin is config.get("mirror") and "history" not in given:
            config["history"] = max(1, int(stream.get("max_msgs_per_subject") or 1))
        if stream.get("allow_msg_ttl"):
            config["allow_msg_ttl"] = True
    return config, unknown


async def create(api: Api, config: Json) -> tuple[Bucket, bool]:
    """Create a bucket; return it, and False when it existed already with this configuration. config: the
    bucket's own, complete. Raises BadInput when the server is too old for it, ApiError."""
    from jsctl.jetstream.kv import config as configs

    name = str(config["name"])
    await api_levels.require(api, configs.BUCKET.find_needed_levels(config))
    try:
        info, created = await streams.create(api, configs.BUCKET.to_stream(config))
    except ApiError as error:
        if error.err_code == ErrorCode.STREAM_NAME_EXIST:
            text = f"bucket {name} exists with another configuration"
            raise ApiError(
                error.code, error.err_code, text, f"{build_line('kv edit', name)} changes it"
            ) from None
        raise
    return _build_bucket(api, name, info), created


async def update(bucket: Bucket, config: Json) -> Bucket:
    """Change a bucket's configuration. Raises BadInput, ApiError."""
    from jsctl.jetstream.kv import config as configs
    from jsctl.jetstream.stream.config import STREAM

    await api_levels.require(bucket.api, configs.BUCKET.find_needed_levels(config))
    live = STREAM.without_server_keys(bucket.stream_config)
    info = await streams.update(bucket.api, configs.BUCKET.to_stream(config, live))
    return _build_bucket(bucket.api, bucket.name, info)


def build_missing_error(api: Api, name: str) -> MissingName:
    """Return the error for a bucket that does not exist."""
    text = registry.find_noun("bucket").missing(name, domain=api.domain)
    return MissingName(ErrorCode.STREAM_NOT_FOUND, text, name, partial(list_names, api))
