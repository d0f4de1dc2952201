"""Changes of a consumer that are about to be made."""

from collections.abc import Sequence

from jsctl.base.units import format_count, join_some
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.data_loss import DataLoss
from jsctl.jetstream.message.reset_preview import Preview
from jsctl.views.intent import Intent


def change_intent(
    verb: str, info: Json, more: str = "", loss: DataLoss | None = None, **facts: object
) -> Intent:
    """Return the intent to change a consumer. verb: "delete". more: follows its name. loss: the messages of
    the stream that it deletes, for verbs that can. facts: further ones."""
    stream, consumer = info["stream_name"], info["name"]
    state = {"unprocessed": info.get("num_pending", 0), "outstanding": info.get("num_ack_pending", 0)}
    deletes = f", which deletes {loss}" if loss else ""
    return Intent(
        f"{verb} Consumer {stream} > {consumer}{more}{deletes}",
        {
            "stream": stream,
            "consumer": consumer,
            **state,
            **(loss.to_json() if loss is not None else {}),
            **facts,
        },
    )


def reset_intent(stream: str, previews: Sequence[tuple[Json, Preview]], loss: DataLoss) -> Intent:
    """Return the intent to reset several consumers of a stream. loss: the messages that it deletes."""
    deletes = f", which deletes {loss}" if loss else ""
    lines = [
        f"Would reset Consumer {stream} > {info['name']} to sequence {format_count(preview.sequence)};"
        f" {preview}"
        for info, preview in previews
    ]
    facts = [{"consumer": info["name"], **preview.to_json()} for info, preview in previews]
    names = join_some([f"{info['name']}: {preview}" for info, preview in previews])
    action = f"reset {len(previews)} Consumers of {stream} ({names}){deletes}"
    return Intent(action, {"stream": stream, "consumers": facts, **loss.to_json()}, lines)
