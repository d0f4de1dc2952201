"""The questions of `stream add`, in the words and order of the leaf node guide.

Each question fills one key of the draft; a key that the draft has is not asked for.
"""

from jsctl.jetstream.config.kind import Json
from jsctl.jetstream.stream.config import STREAM, default_window
from jsctl.jetstream.stream.origins import has_start, import_from, is_imported, with_start
from jsctl.nats.subjects import split_subjects, validate_name
from jsctl.prompts.prompter import Choice, Prompter
from jsctl.units import exact_duration, parse_time

_RETENTION = (Choice("Limits", "limits"), Choice("Interest", "interest"), Choice("Work Queue", "workqueue"))
_DISCARD = (Choice("New", "new"), Choice("Old", "old"))


async def ask_name(prompter: Prompter) -> str:
    """The name of a new stream."""
    return await prompter.text("Stream Name", flag="the stream's name", check=validate_name)


async def ask_subjects(prompter: Prompter) -> list[str]:
    """Subjects, separated by spaces or commas."""
    answer = await prompter.text("Subjects to consume", flag="--subjects", check=_check_subjects)
    return split_subjects([answer])


async def ask_rest(prompter: Prompter, draft: Json, *, size_needed: bool = False) -> Json:
    """The draft with an answer for everything that it leaves out.

    size_needed: the account wants a limit of size on every stream.
    """
    answered = dict(draft)
    mirror, collects = "mirror" in answered, bool(answered.get("sources"))

    async def ask_number(key: str, message: str, default: str) -> None:
        field = STREAM.by_key[key]
        if key not in answered:
            text = await prompter.text(
                message, flag=f"--{field.flag}", default=default, check=field.kind.parse
            )
            answered[key] = field.kind.parse(text)

    if "storage" not in answered:
        answered["storage"] = await prompter.select(
            "Storage backend", ["file", "memory"], flag="--storage", default="file"
        )
    if "retention" not in answered:
        answered["retention"] = await prompter.select(
            "Retention Policy", _RETENTION, flag="--retention", default="Limits"
        )
    if "discard" not in answered:
        answered["discard"] = await prompter.select(
            "Discard Policy", _DISCARD, flag="--discard", default="Old"
        )
    await ask_number("max_msgs", "Stream Messages Limit", "-1")
    if not mirror and not collects:
        await ask_number("max_msgs_per_subject", "Per Subject Messages Limit", "-1")
    await ask_number("max_bytes", "Message size limit", "256MB" if size_needed else "-1")
    await ask_number("max_age", "Maximum message age limit", "-1")
    await ask_number("max_msg_size", "Maximum individual message size", "-1")
    if not mirror:
        window = exact_duration(default_window(answered["max_age"])).replace("m0s", "m")
        await ask_number("duplicate_window", "Duplicate tracking time window", window)
    await ask_number("num_replicas", "Replicas", "1")
    if mirror:
        answered["mirror"] = await _ask_origin(prompter, answered["mirror"], _MirrorWords())
    if collects:
        answered["sources"] = [
            await _ask_origin(prompter, origin, _SourceWords(origin["name"]))
            for origin in answered["sources"]
        ]
    return answered


class _MirrorWords:
    """What is asked about a mirror."""

    flag = "--mirror"
    adjust = "Adjust mirror start"
    sequence = "Mirror Start Sequence"
    time = "Mirror Start Time"
    other_domain = "Import mirror from a different JetStream domain"
    domain = "Foreign JetStream domain name"
    domain_deliver = "Delivery prefix"
    other_account = "Import mirror from a different account"
    api = "Foreign account API prefix"
    deliver = "Foreign account delivery prefix"


class _SourceWords(_MirrorWords):
    """What is asked about one of several sources."""

    flag = "--source"

    def __init__(self, name: str) -> None:
        self.adjust = f'Adjust source "{name}" start'
        self.sequence = f"{name} Source Start Sequence"
        self.time = f"{name} Source Start Time"
        self.other_domain = f'Import "{name}" from a different JetStream domain'
        self.domain = f"{name} Source foreign JetStream domain name"
        self.domain_deliver = f"{name} Source foreign JetStream domain delivery prefix"
        self.other_account = f'Import "{name}" from a different account'
        self.api = f"{name} Source foreign account API prefix"
        self.deliver = f"{name} Source foreign account delivery prefix"


async def _ask_origin(prompter: Prompter, origin: Json, words: _MirrorWords) -> Json:
    """The origin with answers to where it starts and where it is."""
    if not has_start(origin) and await prompter.confirm(words.adjust, flag=words.flag):
        sequence = await prompter.text(words.sequence, flag=words.flag, default="0", check=_check_sequence)
        origin = with_start(origin, sequence)
        if not int(sequence):
            time = await prompter.text(
                words.time, flag=words.flag, check=_check_time, help="2026-11-21T06:00:00Z"
            )
            origin = with_start(origin, time) if time else origin
    if is_imported(origin):
        return origin
    if await prompter.confirm(words.other_domain, flag=words.flag):
        domain = await prompter.text(words.domain, flag=words.flag, check=_check_not_empty)
        deliver = await prompter.text(words.domain_deliver, flag=words.flag)
        return import_from(origin, domain=domain, deliver=deliver)
    if await prompter.confirm(words.other_account, flag=words.flag):
        api = await prompter.text(words.api, flag=words.flag, check=_check_not_empty)
        deliver = await prompter.text(words.deliver, flag=words.flag, check=_check_not_empty)
        return import_from(origin, api=api, deliver=deliver)
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
