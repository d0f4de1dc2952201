"""Changes of a consumer that are about to be made."""

from jsctl.jetstream.api import Json
from jsctl.jetstream.message.data_loss import DataLoss
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
