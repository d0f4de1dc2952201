"""The questions of `consumer add`, in the words and order of the leaf node guide.

Each question fills one key of the draft; a key that the draft has is not asked for.
"""

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer.availability import check_filters, check_name_is_free
from jsctl.jetstream.consumer.config import CONSUMER, get_filters, with_filters, with_start
from jsctl.nats.subjects import split_subjects, validate_name
from jsctl.prompts.fields import ask_field
from jsctl.prompts.prompter import Prompter


async def ask_name(prompter: Prompter, api: Api | None, stream: str) -> str:
    """Ask for the name of a new consumer. api: checks that the name is free; None skips the check."""

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
    """Return the draft with an answer for every key that it leaves out.

    pull: it must be a pull consumer. all_subjects: it must not have a filter. now: seconds since the epoch,
    for a start some time ago. stream_config, api: the stream's configuration and the API with which the
    filter is checked.
    """
    answered = dict(draft)

    fields = CONSUMER.by_key

    async def ask(key: str, default: str | None = None) -> None:
        if key not in answered:
            answered[key] = fields[key].kind.parse(await ask_field(prompter, fields[key], default=default))

    async def verify_filter(text: str) -> None:
        if api is not None:
            await check_filters(api, stream_config, split_subjects([text]))

    if not pull:
        await ask("deliver_subject")
        if not answered["deliver_subject"]:
            del answered["deliver_subject"]
    if "deliver_policy" not in answered:
        start = await ask_field(
            prompter, fields["deliver_policy"], check=lambda text: with_start({}, text, now)
        )
        answered = with_start(answered, start, now)
    await ask("ack_policy", "none" if answered.get("deliver_subject") else None)
    await ask("replay_policy")
    if not all_subjects and not get_filters(answered):
        text = await ask_field(prompter, fields["filter_subjects"], verify=verify_filter)
        answered = with_filters(answered, split_subjects([text]))
    if answered.get("ack_policy") != "none":
        await ask("max_deliver")
        await ask("max_ack_pending")
    return answered
