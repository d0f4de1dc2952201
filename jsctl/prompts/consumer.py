"""The questions of `consumer add`, in the words and order of the leaf node guide.

Each question fills one key of the draft; a key that the draft has is not asked for.
"""

from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.consumer.config import CONSUMER, get_filters, with_filters, with_start
from jsctl.nats.subjects import validate_name
from jsctl.prompts.prompter import Prompter


async def ask_name(prompter: Prompter) -> str:
    """The name of a new consumer."""
    return await prompter.text(
        "Consumer name", flag="the consumer's name", check=lambda text: validate_name(text, "consumer")
    )


async def ask_rest(prompter: Prompter, draft: Json, *, pull: bool, all_subjects: bool, now: float) -> Json:
    """The draft with an answer for everything that it leaves out.

    pull: it is known to be a pull consumer. all_subjects: it is known to have no filter. now: seconds
    since the epoch, for a start some time ago.
    """
    answered = dict(draft)

    async def ask_number(key: str, message: str, default: str) -> None:
        field = CONSUMER.by_key[key]
        if key not in answered:
            text = await prompter.text(
                message, flag=f"--{field.flag}", default=default, check=field.kind.parse
            )
            answered[key] = field.kind.parse(text)

    if not pull and "deliver_subject" not in answered:
        target = await prompter.text(
            "Delivery target (empty for Pull Consumers)",
            flag="--target or --pull",
            check=CONSUMER.by_key["deliver_subject"].kind.parse,
        )
        if target:
            answered["deliver_subject"] = target
    if "deliver_policy" not in answered:
        start = await prompter.text(
            "Start policy (all, new, last, 1h, msg sequence)",
            flag="--deliver",
            default="all",
            check=lambda text: with_start({}, text, now),
        )
        answered = with_start(answered, start, now)
    if answered.get("deliver_subject") and "ack_policy" not in answered:
        answered["ack_policy"] = await prompter.select(
            "Acknowledgement policy", ["explicit", "all", "none"], flag="--ack", default="none"
        )
    if "replay_policy" not in answered:
        answered["replay_policy"] = await prompter.select(
            "Replay policy", ["instant", "original"], flag="--replay", default="instant"
        )
    if not all_subjects and not get_filters(answered):
        text = await prompter.text(
            "Filter Stream by subject (blank for all)",
            flag="--filter",
            check=CONSUMER.by_key["filter_subjects"].kind.parse,
        )
        answered = with_filters(answered, [text])
    if answered.get("ack_policy") != "none":
        await ask_number("max_deliver", "Maximum Allowed Deliveries", "-1")
        await ask_number("max_ack_pending", "Maximum Acknowledgements Pending", "0")
    return answered
