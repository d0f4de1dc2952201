"""Whether a new stream's name and subjects are free, checked before other questions are asked.

A name or subject that the account may not look up counts as free: the server has the last word.
"""

from collections.abc import Sequence

from jsctl.base.command_lines import build_line
from jsctl.errors import ApiError, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import overlaps


async def find_config(api: Api, stream: str) -> Json | None:
    """Fetch a stream's configuration; None when the account may not see it. Raises ApiError when the stream
    does not exist."""
    try:
        config: Json = (await streams.fetch_info(api, stream))["config"]
    except ApiError:
        raise
    except JsctlError:
        return None
    return config


async def check_name_is_free(api: Api, name: str) -> None:
    """Raise ValueError when there is a stream of this name."""
    try:
        exists = await streams.fetch_info_or_none(api, name) is not None
    except JsctlError:
        return
    if exists:
        raise ValueError(f"stream {name} already exists; {build_line('stream edit', name)} changes it")


async def check_subjects_are_free(api: Api, subjects: Sequence[str]) -> None:
    """Raise ValueError when two of the subjects overlap, or one overlaps with those of a stream."""
    for at, subject in enumerate(subjects):
        for other in subjects[:at]:
            if overlaps(subject, other):
                raise ValueError(f"{other} and {subject} overlap")
    if overlap := await streams.describe_overlap(api, subjects):
        raise ValueError(overlap)
