"""The questions of `consumer add`, in the words and order of the leaf node guide.

Each question fills one key of the draft; a key that the draft has is not asked for.
"""

import re
from typing import Any

from jsctl.jetstream.consumer import config as configs
from jsctl.nats.subjects import check_name, is_subject, split_subjects
from jsctl.prompts.prompter import Prompter

Json = dict[str, Any]


async def ask_name(prompter: Prompter) -> str:
    """The name of a new consumer."""
    return await prompter.text(
        "Consumer name", flag="the consumer's name", check=lambda text: check_name(text, "consumer")
    )


async def ask_rest(prompter: Prompter, draft: Json, *, pull: bool, all_subjects: bool, now: float) -> Json:
    """The draft with an answer for everything that it leaves out.

    pull: it was said to be a pull consumer. all_subjects: it was said to have no filter. now: seconds
    since the epoch, for a start some time ago.
    """
    made = dict(draft)
    if not pull and "deliver_subject" not in made:
        target = await prompter.text(
            "Delivery target (empty for Pull Consumers)", flag="--target or --pull", check=_target
        )
        if target:
            made["deliver_subject"] = target
    if "deliver_policy" not in made:
        start = await prompter.text(
            "Start policy (all, new, last, 1h, msg sequence)",
            flag="--deliver",
            default="all",
            check=lambda text: configs.starting({}, text, now),
        )
        made = configs.starting(made, start, now)
    if made.get("deliver_subject") and "ack_policy" not in made:
        made["ack_policy"] = await prompter.select(
            "Acknowledgement policy", ["explicit", "all", "none"], flag="--ack", default="none"
        )
    if "replay_policy" not in made:
        made["replay_policy"] = await prompter.select(
            "Replay policy", ["instant", "original"], flag="--replay", default="instant"
        )
    if not all_subjects and not configs.filters(made):
        only = await prompter.text("Filter Stream by subject (blank for all)", flag="--filter", check=_filter)
        made = configs.with_filters(made, [only])
    if made.get("ack_policy") == "none":
        return made
    if "max_deliver" not in made:
        tries = await prompter.text(
            "Maximum Allowed Deliveries", flag="--max-deliver", default="-1", check=_number
        )
        made["max_deliver"] = int(tries) if int(tries) > 0 else -1
    if "max_ack_pending" not in made:
        most = await prompter.text(
            "Maximum Acknowledgements Pending",
            flag="--max-pending",
            default="0",
            check=_number,
        )
        made["max_ack_pending"] = int(most)
    return made


def _target(text: str) -> None:
    if text and (not is_subject(text) or any(token in "*>" for token in text.split("."))):
        raise ValueError(f"{text!r} is no subject to publish to")


def _filter(text: str) -> None:
    for subject in split_subjects([text]):
        if not is_subject(subject):
            raise ValueError(f"{subject!r} is no subject")


def _number(text: str) -> None:
    if not re.fullmatch(r"-1|\d+", text):
        raise ValueError(f"{text!r} is no number; -1 means unlimited")
