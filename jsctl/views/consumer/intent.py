"""Changes of a consumer that are about to be made."""

from jsctl.jetstream.api import Json
from jsctl.views.intent import Intent


def change_intent(verb: str, info: Json, more: str = "", **facts: object) -> Intent:
    """Return the intent to change a consumer. verb: "delete". more: follows its name. facts: further ones."""
    stream, consumer = info["stream_name"], info["name"]
    state = {"unprocessed": info.get("num_pending", 0), "outstanding": info.get("num_ack_pending", 0)}
    return Intent(
        f"{verb} Consumer {stream} > {consumer}{more}",
        {"stream": stream, "consumer": consumer, **state, **facts},
    )
