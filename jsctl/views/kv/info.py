"""`kv info`: a bucket's info page; and the lists of buckets."""

from jsctl.base.command_lines import build_line
from jsctl.base.units import format_server_time, read_known_time
from jsctl.jetstream.api import Json
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.config import BUCKET
from jsctl.jetstream.kv.names import stream_to_bucket
from jsctl.jetstream.paging import Collected
from jsctl.views.result import Column, Field, InfoPage, Result, Section, Text, build_table
from jsctl.views.shared.config import config_lines
from jsctl.views.shared.infos import (
    CREATED,
    DESCRIPTION,
    SIZE,
    build_age_column,
    build_count_column,
    date_columns,
)
from jsctl.views.shared.tables import unreachable_streams
from jsctl.views.stream.info import cluster_sections, origin_lines, present

_LIMITS = ("max_bucket_size", "max_value_size", "ttl")
_PLACES = ("storage", "replicas", "placement.cluster", "placement.tags")


def info_page(bucket: Bucket, keys: int | None = None) -> Result:
    """Show a bucket, for `kv info`; the document has its configuration in the terms of buckets, and its
    stream's info. keys: those that have a value; None if they were not counted.
    """
    info, config, state = bucket.info, bucket.config, bucket.info["state"]
    heading = (
        f"Information for Key-Value Store Bucket {bucket.name} created"
        f" {format_server_time(info.get('created'))}"
    )
    markers = config.get("marker_ttl")
    configuration = [
        Field("Bucket Name", bucket.name),
        *config_lines(BUCKET, config, "description"),
        Field("History Kept", config.get("history", 0), "limit"),
        *config_lines(BUCKET, config, "compress"),
        Field("Per-Key TTL Supported", bool(info["config"].get("allow_msg_ttl")), "bool"),
        *([Field("Limit Marker TTL", markers, "span")] if markers else []),
        Field("Backing Store Kind", "JetStream"),
        *config_lines(BUCKET, config, *_LIMITS, *_PLACES),
        Field("JetStream Stream", bucket.stream),
        *_build_republishing_fields(config.get("republish") or {}),
    ]
    last = read_known_time(state.get("last_ts"))
    stored = [
        Field("Keys with Deleted Ones", state.get("num_subjects", 0), "count")
        if keys is None
        else Field("Keys", keys, "count"),
        Field("Values Stored", state.get("messages", 0), "count"),
        Field("Bucket Size", state.get("bytes", 0), "bytes"),
        Field("Newest Revision", state.get("last_seq", 0), "count"),
        *([Field("Last Update", format_server_time(last))] if last else []),
    ]
    metadata = [Field(key, value) for key, value in sorted((config.get("metadata") or {}).items())]
    sections = [Section("Configuration", configuration), Section("State", stored)]
    if mirror := info.get("mirror"):
        sections.append(Section("Mirror Information", _build_origin_fields(mirror, "Origin Bucket")))
    for number, source in enumerate(
        sorted(info.get("sources") or [], key=lambda origin: str(origin.get("name")))
    ):
        sections.append(
            Section("" if number else "Sources Information", _build_origin_fields(source, "Source Bucket"))
        )
    sections += [Section("Metadata", metadata)] if metadata else []
    sections += cluster_sections(info)
    return Result([InfoPage(heading, sections)], data=document(bucket, keys))


def document(bucket: Bucket, keys: int | None = None) -> Json:
    """Return the JSON document of a bucket. Its `config` is what `kv add --config` takes. keys: see
    `info page`."""
    state = bucket.info["state"]
    return {
        "bucket": bucket.name,
        "config": bucket.config,
        "keys": keys,
        "values": state["messages"],
        "bytes": state["bytes"],
        "newest_revision": state["last_seq"],
        "stream": bucket.info,
    }


def _build_republishing_fields(pair: Json) -> list[Field]:
    label = "Republishing Headers" if pair.get("headers_only") else "Republishing"
    return [Field(label, f"{pair.get('src') or '>'} to {pair['dest']}")] if pair.get("dest") else []


def _build_origin_fields(origin: Json, label: str) -> list[Field]:
    """Return the lines of the state of a mirror or source, with the name of its bucket."""
    hidden = ("Stream Name", "Subject Filter and Transform")
    lines = [line for line in origin_lines(origin) if line.label not in hidden]
    return present(Field(label, stream_to_bucket(str(origin.get("name", "")))), *lines)


_BUCKETS = (
    Column("Bucket", "bucket", read=lambda info: stream_to_bucket(info["config"]["name"])),
    DESCRIPTION,
    CREATED,
    SIZE,
    build_count_column("Values", "values"),
    build_age_column("Last Update", "last_update"),
)


def build_bucket_columns(now: float) -> list[Column]:
    """Return the columns of lists of buckets. now: seconds since 1970."""
    return date_columns(_BUCKETS, now)


def listing(buckets: Collected[Json], now: float) -> Result:
    """Show the list of `kv ls` without a bucket, smallest first. now: seconds since the epoch."""
    infos = sorted(buckets.items.values(), key=lambda info: (info["state"]["bytes"], info["config"]["name"]))
    unreachable = unreachable_streams(buckets.missing, buckets.offline)
    data = sorted(stream_to_bucket(info["config"]["name"]) for info in infos)
    if not infos and not unreachable:
        return Result([Text(f"There are no buckets; {build_line('kv add')} creates one")], data=data)
    return Result(
        [build_table("Key-Value Buckets", build_bucket_columns(now), infos), *unreachable], data=data
    )


def named(label: str, bucket: Bucket) -> Result:
    """Show the info page of a bucket below a line that says what was done to it."""
    result = info_page(bucket, 0 if not bucket.info["state"]["messages"] else None)
    return Result([Text(label), *result.parts], data=result.data)
