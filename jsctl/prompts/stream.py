"""The questions of `stream add`, in the words and order of the leaf node guide.

Each question fills one key of the draft; a key that the draft has is not asked for.
"""

from collections.abc import Callable
from typing import Any

from jsctl.jetstream.stream.config import default_window
from jsctl.jetstream.stream.origins import has_start, import_from, is_imported, starting
from jsctl.nats.subjects import check_name, is_subject, split_subjects
from jsctl.prompts.prompter import Choice, Prompter
from jsctl.units import exact_duration, parse_bytes, parse_duration, parse_time

Json = dict[str, Any]

_RETENTION = (Choice("Limits", "limits"), Choice("Interest", "interest"), Choice("Work Queue", "workqueue"))
_DISCARD = (Choice("New", "new"), Choice("Old", "old"))


async def ask_name(prompter: Prompter) -> str:
    """The name of a new stream."""
    return await prompter.text("Stream Name", flag="the stream's name", check=check_name)


async def ask_subjects(prompter: Prompter) -> list[str]:
    """Subjects, parted by spaces or commas."""
    answer = await prompter.text("Subjects to consume", flag="--subjects", check=_subjects)
    return split_subjects([answer])


async def ask_rest(prompter: Prompter, draft: Json, *, size_needed: bool = False) -> Json:
    """The draft with an answer for everything that it leaves out.

    size_needed: the account wants a limit of size on every stream.
    """
    made = dict(draft)
    mirror, collects = "mirror" in made, bool(made.get("sources"))

    async def number(key: str, message: str, flag: str, default: str, read: Callable[[str], int]) -> None:
        if key not in made:
            made[key] = read(await prompter.text(message, flag=flag, default=default, check=read))

    if "storage" not in made:
        made["storage"] = await prompter.select(
            "Storage backend", ["file", "memory"], flag="--storage", default="file"
        )
    if "retention" not in made:
        made["retention"] = await prompter.select(
            "Retention Policy", _RETENTION, flag="--retention", default="Limits"
        )
    if "discard" not in made:
        made["discard"] = await prompter.select("Discard Policy", _DISCARD, flag="--discard", default="Old")
    await number("max_msgs", "Stream Messages Limit", "--max-msgs", "-1", _limit)
    if not mirror and not collects:
        await number(
            "max_msgs_per_subject", "Per Subject Messages Limit", "--max-msgs-per-subject", "-1", _limit
        )
    await number(
        "max_bytes", "Message size limit", "--max-bytes", "256MB" if size_needed else "-1", parse_bytes
    )
    await number("max_age", "Maximum message age limit", "--max-age", "-1", _span)
    await number("max_msg_size", "Maximum individual message size", "--max-msg-size", "-1", parse_bytes)
    if not mirror:
        window = exact_duration(default_window(made["max_age"])).replace("m0s", "m")
        await number(
            "duplicate_window", "Duplicate tracking time window", "--dupe-window", window, parse_duration
        )
    await number("num_replicas", "Replicas", "--replicas", "1", _replicas)
    if mirror:
        made["mirror"] = await _ask_origin(prompter, made["mirror"], _MirrorWords())
    if collects:
        made["sources"] = [
            await _ask_origin(prompter, one, _SourceWords(one["name"])) for one in made["sources"]
        ]
    return made


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
    made = origin
    if not has_start(made) and await prompter.confirm(words.adjust, flag=words.flag):
        sequence = await prompter.text(words.sequence, flag=words.flag, default="0", check=_sequence)
        made = starting(made, sequence)
        if not int(sequence):
            moment = await prompter.text(
                words.time, flag=words.flag, check=_moment, help="2026-11-21T06:00:00Z"
            )
            made = starting(made, moment) if moment else made
    if is_imported(made):
        return made
    if await prompter.confirm(words.other_domain, flag=words.flag):
        domain = await prompter.text(words.domain, flag=words.flag, check=_something)
        deliver = await prompter.text(words.domain_deliver, flag=words.flag)
        return import_from(made, domain=domain, deliver=deliver)
    if await prompter.confirm(words.other_account, flag=words.flag):
        api = await prompter.text(words.api, flag=words.flag, check=_something)
        deliver = await prompter.text(words.deliver, flag=words.flag, check=_something)
        return import_from(made, api=api, deliver=deliver)
    return made


def _subjects(text: str) -> None:
    found = split_subjects([text])
    if not found:
        raise ValueError("a stream needs a subject")
    for subject in found:
        if not is_subject(subject):
            raise ValueError(f"{subject!r} is no subject")


def _limit(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number; -1 means unlimited") from None
    return number if number > 0 else -1


def _replicas(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise ValueError("a number from 1 on")
    return int(text)


def _span(text: str) -> int:
    return 0 if text.strip() == "-1" else parse_duration(text)


def _sequence(text: str) -> None:
    if not text.isdigit():
        raise ValueError(f"{text!r} is no sequence; 0 asks for a time")


def _moment(text: str) -> None:
    if text:
        parse_time(text)


def _something(text: str) -> None:
    if not text.strip():
        raise ValueError("it cannot be empty")
