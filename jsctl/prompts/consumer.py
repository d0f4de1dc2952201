"""The questions of `consumer add`, in the words and order of the leaf node guide.

Each question fills one key of the draft; a key that the draft has is not asked for.
"""

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer.availability import check_filters, check_name_is_free
from jsctl.jetstream.consumer.config import CONSUMER, get_filters, with_filters, with_start
from jsctl.nats.subjects import split_subjects, validate_name
from jsctl.prompts.prompter import Prompter

_HELP = {
    "ack_policy": "explicit: each message is acknowledged; all: a message and those before it; none: what was"
    " delivered is done",
    "deliver_policy": "Where in the stream to start: all, new, last, subject (the last of each), a sequence,"
    " 1h for the last hour, or a time",
    "deliver_subject": "Subject that a push consumer delivers on; a pull consumer's clients ask for messages",
    "replay_policy": "instant: as fast as possible; original: at the pace at which messages were stored",
}
"""What `?` shows where the flag's own help is too short."""


async def ask_name(prompter: Prompter, api: Api | None, stream: str) -> str:
    """The name of a new consumer. api: tells whether it is free; None does not look."""

    async def verify(name: str) -> None:
        if api is not None:
            await check_name_is_free(api, stream, name)

    return await prompter.text(
        "Consumer name",
        flag="the consumer's name",
        check=lambda text: validate_name(text, "consumer"),
        verify=verify,
        help="A name without dots, spaces, wildcards or slashes",
    )


async def ask_rest(
    prompter: Prompter,
    draft: Json,
    *,
    pull: bool,
    all_subjects: bool,
    now: float,
    api: Api | None = None,
    stream_config: Json | None = None,
) -> Json:
    """The draft with an answer for everything that it leaves out.

    pull: it is known to be a pull consumer. all_subjects: it is known to have no filter. now: seconds
    since the epoch, for a start some time ago. stream_config: of the stream that it is for; with it and
    api the filter is checked.
    """
    answered = dict(draft)

    async def ask_number(key: str, message: str, default: str) -> None:
        field = CONSUMER.by_key[key]
        if key not in answered:
            text = await prompter.text(
                message, flag=f"--{field.flag}", default=default, check=field.kind.parse, help=field.help
            )
            answered[key] = field.kind.parse(text)

    async def verify_filter(text: str) -> None:
        if api is not None:
            await check_filters(api, stream_config, split_subjects([text]))

    if not pull and "deliver_subject" not in answered:
        target = await prompter.text(
            "Delivery target (empty for Pull Consumers)",
            flag="--target or --pull",
            check=CONSUMER.by_key["deliver_subject"].kind.parse,
            help=_HELP["deliver_subject"],
        )
        if target:
            answered["deliver_subject"] = target
    if "deliver_policy" not in answered:
        start = await prompter.text(
            "Start policy (all, new, last, 1h, msg sequence)",
            flag="--deliver",
            default="all",
            check=lambda text: with_start({}, text, now),
            help=_HELP["deliver_policy"],
        )
        answered = with_start(answered, start, now)
    if "ack_policy" not in answered:
        answered["ack_policy"] = await prompter.select(
            "Acknowledgement policy",
            ["explicit", "all", "none"],
            flag="--ack",
            default="none" if answered.get("deliver_subject") else "explicit",
            help=_HELP["ack_policy"],
        )
    if "replay_policy" not in answered:
        answered["replay_policy"] = await prompter.select(
            "Replay policy",
            ["instant", "original"],
            flag="--replay",
            default="instant",
            help=_HELP["replay_policy"],
        )
    if not all_subjects and not get_filters(answered):
        text = await prompter.text(
            "Filter Stream by subject (blank for all)",
            flag="--filter",
            check=CONSUMER.by_key["filter_subjects"].kind.parse,
            verify=verify_filter,
            help=CONSUMER.by_key["filter_subjects"].help,
        )
        answered = with_filters(answered, [text])
    if answered.get("ack_policy") != "none":
        await ask_number("max_deliver", "Maximum Allowed Deliveries", "-1")
        await ask_number("max_ack_pending", "Maximum Acknowledgements Pending", "0")
    return answered
