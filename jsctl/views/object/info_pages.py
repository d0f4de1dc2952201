"""Info pages of buckets."""

from jsctl.base.units import format_bytes, format_server_time, pluralize
from jsctl.jetstream.api import Json
from jsctl.jetstream.object.buckets import get_bucket
from jsctl.jetstream.stream.config import STREAM
from jsctl.views.intent import Intent
from jsctl.views.result import Field, InfoPage, Result, Section, Text
from jsctl.views.shared.config import config_lines
from jsctl.views.stream.info import cluster_sections, metadata_section


def bucket(info: Json, *, first_line: str = "") -> Result:
    """Show a bucket; the document is the info of its stream. first_line: what was done to it."""
    config, state = info["config"], info["state"]
    name = get_bucket(info)
    fields = [
        Field("Bucket Name", name),
        *config_lines(STREAM, config, "description", "num_replicas"),
        Field("TTL", config.get("max_age", 0), "span_limit"),
        Field("Sealed", bool(config.get("sealed")), "bool"),
        Field("Size", state["bytes"], "bytes"),
        Field("Maximum Bucket Size", config["max_bytes"], "bytes_limit"),
        *config_lines(STREAM, config, "storage", "compression", "placement.cluster", "placement.tags"),
        Field("Backing Store Kind", "JetStream"),
        Field("JetStream Stream", config["name"]),
    ]
    if mirror := config.get("mirror"):
        fields.append(Field("Mirror of", mirror.get("name", "")))
    sections = [
        Section("Configuration", fields),
        metadata_section(config),
        *cluster_sections(info),
    ]
    heading = f"Information for Object Store Bucket {name} created {format_server_time(info.get('created'))}"
    info_page = InfoPage(heading, [section for section in sections if section.fields])
    return Result([*([Text(first_line)] if first_line else []), info_page], data=info)


def removal(bucket_name: str, info: Json, objects: int) -> Intent:
    """Return the intent to remove a bucket with its objects."""
    size = info["state"]["bytes"]
    description = f"bucket {bucket_name} with {pluralize(objects, 'object')}, {format_bytes(size)}"
    return Intent(f"remove {description}", {"bucket": bucket_name, "objects": objects, "bytes": size})
