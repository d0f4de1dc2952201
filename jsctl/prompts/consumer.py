"""The questions of `consumer add`, in the words and order of `nats`.

Each question fills one key of the draft; a key that the draft has is not asked for.
"""

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer.availability import check_filters, check_name_is_free
from jsctl.jetstream.consumer.config import CONSUMER, get_filters, parse_backoff, with_filters, with_start
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
        """Ask for a key. An answer that stands for nothing leaves it out."""
        if key in answered:
            return
        answer = await ask_field(prompter, fields[key], default=default)
        value = answer if isinstance(answer, bool) else fields[key].kind.parse(answer)
        if value:
            answered[key] = value

    async def verify_filter(text: str) -> None:
        if api is not None:
            await check_filters(api, stream_config, split_subjects([text]))

    if not pull:
        await ask("deliver_subject")
    is_push = bool(answered.get("deliver_subject"))
    if is_push:
        await ask("deliver_group")
    if "deliver_policy" not in answered:
        start = await ask_field(
            prompter, fields["deliver_policy"], check=lambda text: with_start({}, text, now)
        )
        answered = with_start(answered, start, now)
    await ask("ack_policy", "none" if is_push else "explicit")
    await ask("replay_policy")
    if not all_subjects and not get_filters(answered):
        text = await ask_field(prompter, fields["filter_subjects"], verify=verify_filter)
        answered = with_filters(answered, split_subjects([text]))
    if answered.get("ack_policy") != "none":
        await ask("max_deliver")
        await ask("max_ack_pending", "0")
    if is_push:
        await ask("idle_heartbeat")
        if answered.get("idle_heartbeat"):  # the server requires it
            await ask("flow_control")
    await ask("headers_only")
    if answered.get("ack_policy") == "none" or "backoff" in answered:
        return answered
    waits = await _ask_backoff(prompter, int(answered.get("max_deliver") or -1))
    return {**answered, "backoff": waits} if waits else answered


async def _ask_backoff(prompter: Prompter, max_deliver: int) -> list[int]:
    """Ask for the waits before redeliveries, in ns; empty for none. max_deliver: at least as many."""

    def check_steps(text: str) -> None:
        if not text.isdigit() or not int(text):
            raise ValueError("a backoff has at least one step")
        if 0 < max_deliver < int(text):
            raise ValueError(f"at most {max_deliver}, the maximum number of deliveries")

    if not await prompter.confirm("Add a Retry Backoff Policy", flag="--backoff"):
        return []
    mode = await prompter.select(
        *("Backoff policy", ["linear", "none"]),
        flag="--backoff",
        default="none",
        help="linear: waits grow by equal steps from a shortest to a longest",
    )
    if mode == "none":
        return []
    parse = CONSUMER.by_key["ack_wait"].kind.parse
    text = await prompter.text("Minimum retry time", flag="--backoff-min", default="1m", check=parse)
    shortest = parse(text)

    def check_longest(text: str) -> None:
        parse_backoff(mode, shortest=shortest, longest=parse(text))

    longest = await prompter.text(
        "Maximum retry time", flag="--backoff-max", default="10m", check=check_longest
    )
    steps = await prompter.text(
        "Number of steps to generate in the policy", flag="--backoff-steps", default="20", check=check_steps
    )
    return parse_backoff(mode, steps=int(steps), shortest=shortest, longest=parse(longest))
