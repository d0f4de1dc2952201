"""Whether a new consumer's name is free and its filter can match, checked before other questions are asked.

A name or filter that the account may not look up counts as free: the server has the last word.
"""

from collections.abc import Sequence

from jsctl.base.command_lines import build_line
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import list_origins
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.nats.subjects import overlaps


async def check_name_is_free(api: Api, stream: str, name: str) -> None:
    """Raise ValueError when the stream has a consumer of this name."""
    try:
        await consumers.fetch_info(api, stream, name)
    except JsctlError:
        return
    raise ValueError(
        f"consumer {stream} > {name} already exists; {build_line('consumer edit', stream, name)} changes it"
    )


async def check_filters(api: Api, stream_config: Json | None, filters: Sequence[str]) -> None:
    """Raise ValueError for a filter that no message can match, or that another consumer of a work queue has.

    filters: empty for all messages.
    """
    if stream_config is None:
        return
    for subject in list_unmatched(filters, stream_config):
        name, subjects = stream_config["name"], stream_config["subjects"]
        raise ValueError(f"{subject} matches nothing: stream {name} stores {', '.join(subjects)}")
    if stream_config.get("retention") == "workqueue":
        await _check_work_queue(api, str(stream_config["name"]), filters)


def list_unmatched(filters: Sequence[str], stream_config: Json) -> list[str]:
    """Return the filters that match none of a stream's subjects. A mirror, or a stream with sources or a
    transformation of its subjects, may have any."""
    subjects = stream_config.get("subjects") or ()
    if not subjects or list_origins(stream_config) or stream_config.get("subject_transform"):
        return []
    return [subject for subject in filters if not any(overlaps(subject, own) for own in subjects)]


async def _check_work_queue(api: Api, stream: str, filters: Sequence[str]) -> None:
    """Raise ValueError when another consumer of a work queue takes some of these subjects.

    A work queue gives each message to one consumer (nats-server: consumer.go, errors 10099 and 10100).
    """
    try:
        infos = (await consumers.list_consumers(api, stream)).infos
    except JsctlError:
        return
    for info in infos:
        for subject in filters or [">"]:
            messages = subject if filters else "messages"
            if any(overlaps(subject, pattern) for pattern in get_filters(info["config"]) or [">"]):
                raise ValueError(
                    f"stream {stream} is a work queue, and consumer {info['name']} already reads {messages}"
                )
