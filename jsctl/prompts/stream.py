"""The questions of `stream add`, in the words and order of `nats`.

Each question fills one key of the draft; a key that the draft has is not asked for.
"""

from jsctl.base.units import format_exact_duration, parse_time
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import has_start, import_from, is_imported, with_filter, with_start
from jsctl.jetstream.stream.availability import check_name_is_free, check_subjects_are_free
from jsctl.jetstream.stream.config import STREAM, choose_window
from jsctl.nats.subjects import split_subjects, validate_name
from jsctl.prompts.fields import ask_field
from jsctl.prompts.prompter import Prompter

_ORDER = (
    *("storage", "num_replicas", "retention", "discard", "max_msgs", "max_msgs_per_subject", "max_bytes"),
    *("max_age", "max_msg_size", "duplicate_window", "allow_rollup_hdrs", "deny_delete", "deny_purge"),
)
"""Keys in the order of their questions; others follow."""

_NAME_HELP = "A name without dots, spaces, wildcards or slashes"


async def ask_name(prompter: Prompter, api: Api | None) -> str:
    """Ask for the name of a new stream. api: checks that the name is free; None skips the check."""

    async def verify(name: str) -> None:
        if api is not None:
            await check_name_is_free(api, name)

    return await prompter.text(
        "Stream Name", flag="the stream's name", check=validate_name, verify=verify, help=_NAME_HELP
    )


async def ask_subjects(prompter: Prompter, api: Api | None) -> list[str]:
    """Ask for subjects, separated by spaces or commas. api: checks that they are free; None skips the
    check.
    """

    async def verify(text: str) -> None:
        if api is not None:
            await check_subjects_are_free(api, split_subjects([text]))

    answer = await ask_field(prompter, STREAM.by_key["subjects"], check=_check_subjects, verify=verify)
    return split_subjects([answer])


async def ask_rest(prompter: Prompter, draft: Json, *, size_needed: bool = False) -> Json:
    """Return the draft with an answer for every key that it leaves out.

    size_needed: the account requires a size limit on every stream.
    """
    answered = dict(draft)
    mirror, has_sources = "mirror" in answered, bool(answered.get("sources"))
    left_out = {"subjects", *answered}
    if mirror or has_sources:
        left_out.add("max_msgs_per_subject")
    if mirror:
        left_out.add("duplicate_window")
    for key in dict.fromkeys((*_ORDER, *(field.key for field in STREAM.fields if field.question))):
        if key in left_out:
            continue
        default = None
        if key == "max_bytes" and size_needed:
            default = "256MB"
        elif key == "duplicate_window":
            window = choose_window(answered["max_age"])
            default = format_exact_duration(window).replace("m0s", "m")
        field = STREAM.by_key[key]
        answer = await ask_field(prompter, field, default=default)
        if answer is not False:
            answered[key] = answer if answer is True else field.kind.parse(answer)
    if mirror:
        answered["mirror"] = await _ask_origin(prompter, answered["mirror"], _MirrorWords())
    if has_sources:
        answered["sources"] = [
            await _ask_origin(prompter, origin, _SourceWords(origin["name"]))
            for origin in answered["sources"]
        ]
    return answered


class _MirrorWords:
    """The wording of the questions about a mirror."""

    flag = "--mirror"
    durable = "Configure a custom durable consumer"
    adjust = "Adjust mirror start"
    sequence = "Mirror Start Sequence"
    time = "Mirror Start Time"
    choose = "Adjust mirror filter and transform"
    filter = "Filter mirror by subject (hit enter to finish)"
    other_domain = "Import mirror from a different JetStream domain"
    domain = "Foreign JetStream domain name"
    domain_deliver = "Delivery prefix"
    other_account = "Import mirror from a different account"
    api = "Foreign account API prefix"
    deliver = "Foreign account delivery prefix"


class _SourceWords(_MirrorWords):
    """The wording of the questions about one of several sources."""

    flag = "--source"
    filter = "Filter source by subject (hit enter to finish)"

    def __init__(self, name: str) -> None:
        self.durable = f'Configure a custom durable consumer for "{name}"'
        self.adjust = f'Adjust source "{name}" start'
        self.sequence = f"{name} Source Start Sequence"
        self.time = f"{name} Source UTC Time Stamp"
        self.choose = f'Adjust source "{name}" filter and transform'
        self.other_domain = f'Import "{name}" from a different JetStream domain'
        self.domain = f"{name} Source foreign JetStream domain name"
        self.domain_deliver = f"{name} Source foreign JetStream domain delivery prefix"
        self.other_account = f'Import "{name}" from a different account'
        self.api = f"{name} Source foreign account API prefix"
        self.deliver = f"{name} Source foreign account delivery prefix"


async def _ask_origin(prompter: Prompter, origin: Json, words: _MirrorWords) -> Json:
    """Ask from where a mirror or source copies what, and from which message on. Returns the origin with the
    answers.
    """
    start_flag = f"{words.flag} NAME,start=SEQUENCE or start=TIME"
    if not has_start(origin):
        origin = await _ask_durable(prompter, origin, words)
    if not has_start(origin) and await prompter.confirm(
        words.adjust, flag=start_flag, help="Without a start it copies all messages"
    ):
        sequence = await prompter.text(
            words.sequence,
            flag=start_flag,
            default="0",
            check=_check_sequence,
            help="The first message to copy; 0 asks for a time",
        )
        origin = with_start(origin, sequence)
        if not int(sequence):
            time = await prompter.text(
                words.time, flag=start_flag, check=_check_time, note="(2026-11-21T06:00:00Z)"
            )
            origin = with_start(origin, time) if time else origin
    if not (origin.get("filter_subject") or origin.get("subject_transforms")):
        origin = await _ask_filters(prompter, origin, words)
    if is_imported(origin):
        return origin
    has_durable = "consumer" in origin
    by_domain, by_prefix = f"{words.flag} NAME@DOMAIN", f"{words.flag} NAME,api=PREFIX,deliver=PREFIX"
    if await prompter.confirm(
        words.other_domain,
        flag=by_domain,
        help="Answer yes if the origin is in another domain of this account",
    ):
        domain = await prompter.text(words.domain, flag=by_domain, check=_check_not_empty)
        deliver = (
            ""
            if has_durable
            else await prompter.text(
                words.domain_deliver,
                flag=f"{by_domain},deliver=PREFIX",
                help="Prefix of the subjects on which messages are delivered; empty for the server's own",
            )
        )
        return import_from(origin, domain=domain, deliver=deliver)
    if await prompter.confirm(
        words.other_account, flag=by_prefix, help="Answer yes if another account exports the origin's API"
    ):
        api = await prompter.text(
            words.api,
            flag=by_prefix,
            check=_check_not_empty,
            help="The prefix under which this account imports the other's JetStream API",
        )
        deliver = (
            ""
            if has_durable
            else await prompter.text(
                words.deliver,
                flag=by_prefix,
                check=_check_not_empty,
                help="The prefix under which this account imports the other's deliveries",
            )
        )
        return import_from(origin, api=api, deliver=deliver)
    return origin


async def _ask_durable(prompter: Prompter, origin: Json, words: _MirrorWords) -> Json:
    flag = f"""{words.flag} '{{"name":"...","consumer":{{...}}}}'"""
    if not await prompter.confirm(words.durable, flag=flag, help="One that exists where the origin is"):
        return origin
    name = await prompter.text("Durable consumer name", flag=flag, check=validate_name)
    deliver = await prompter.text("Delivery subject", flag=flag, check=_check_not_empty)
    return {**origin, "consumer": {"name": name, "deliver_subject": deliver}}


async def _ask_filters(prompter: Prompter, origin: Json, words: _MirrorWords) -> Json:
    flag = f"{words.flag} NAME,filter=SUBJECT or filter=SUBJECT:DESTINATION"
    if not await prompter.confirm(words.choose, flag=flag, help="Without a filter it copies all subjects"):
        return origin
    while subject := await prompter.text(words.filter, flag=flag):
        destination = await prompter.text(
            "Subject transform destination", flag=flag, help="Subject to rename them to; empty for none"
        )
        origin = with_filter(origin, f"{subject}:{destination}")
    return origin


def _check_subjects(text: str) -> None:
    if not STREAM.by_key["subjects"].kind.parse(text):
        raise ValueError("a stream needs a subject")


def _check_sequence(text: str) -> None:
    if not text.isdigit():
        raise ValueError(f"{text!r} is not a sequence; 0 asks for a time")


def _check_time(text: str) -> None:
    if text:
        parse_time(text)


def _check_not_empty(text: str) -> None:
    if not text.strip():
        raise ValueError("this cannot be empty")
