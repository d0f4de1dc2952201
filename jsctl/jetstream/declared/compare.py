"""What is declared, compared with what servers have: the step for a stream, a bucket or a consumer.

A step is computed twice by the same functions: for the plan, and again right before it is done. If anything
that the file names, or what the plan said of deleted messages, has changed in between, the step is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from jsctl.base.loops import gather
from jsctl.base.units import pluralize
from jsctl.errors import ApiError, BadInput, JsctlError, collecting
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.declared.contents import CONTENTS
from jsctl.jetstream.declared.losses import with_losses
from jsctl.jetstream.declared.merge import (
    merge_bucket,
    merge_consumer,
    merge_stream,
    validate_keys,
    without_none,
)
from jsctl.jetstream.declared.model import (
    LABEL,
    Consumer,
    Stream,
    find_bucket_kind,
    get_label,
    with_label,
)
from jsctl.jetstream.declared.step import Step, Target
from jsctl.jetstream.kv.config import BucketSchema
from jsctl.jetstream.message.data_loss import UNKNOWN, DataLoss, measure_stream
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM
from jsctl.jetstream.stream.protection import PROTECT, is_protected, list_names_of
from jsctl.nats.error_codes import ErrorCode

OWNER_KEY = f"metadata.{LABEL}"
PROTECT_KEY = f"metadata.{PROTECT}"


class Stale(JsctlError):
    """What a step is about has changed since the plan was made. step: what it would be now."""

    def __init__(self, message: str, step: Step) -> None:
        super().__init__(message, "run it again to see what would change now")
        self.step = step


@dataclass(frozen=True, slots=True)
class Rules:
    """What the command line permits. take_ownership: what belongs to another label gets that of the file.
    allow_loss: messages may be deleted where nobody is asked. unprotected: names of protected streams and
    buckets that may lose messages all the same. is_exact: a saved plan is carried out, which deletes no more
    than it says."""

    take_ownership: bool = False
    allow_loss: bool = False
    unprotected: frozenset[str] = frozenset()
    is_exact: bool = False

    def may_delete_more(self, *, allows_loss: bool = False) -> bool:
        """Return whether more messages may be deleted than was said. allows_loss: whether the file permits
        it."""
        return (self.allow_loss or allows_loss) and not self.is_exact

    def find_other_owner(self, label: str, live: Json) -> dict[str, str]:
        """Return the refusal to take over, or to give away, what belongs to another label. live: its
        configuration."""
        owner = get_label(live)
        if self.take_ownership or owner in ("", label):
            return {}
        return {OWNER_KEY: f"belongs to label {owner}: --take-ownership takes it over"}

    def find_protection(self, config: Json, loss: DataLoss) -> dict[str, str]:
        """Return the refusal to remove a protected stream, or to delete messages of it."""
        names = list_names_of(str(config["name"]))
        if not loss or not is_protected(config) or names & self.unprotected:
            return {}
        return {PROTECT_KEY: f"is protected: --unprotect {min(names, key=len)} permits it"}


class _Noun(NamedTuple):
    """How declared keys of a noun become a request."""

    schema: Schema
    merge: Callable[[Json, Json], Json]


_STREAM = _Noun(STREAM, merge_stream)
_CONSUMER = _Noun(CONSUMER, merge_consumer)


async def fetch_stream(target: Target, stream: str) -> Json | None:
    """Return a stream's info; None when it does not exist, or its account does not yet."""
    if target.is_missing:
        return None
    return await streams.fetch_info_or_none(target.api, stream)


async def fetch_consumer(target: Target, stream: str, consumer: str) -> Json | None:
    """Return a consumer's info; None when it does not exist."""
    try:
        return await consumers.fetch_info(target.api, stream, consumer)
    except ApiError as error:
        if error.err_code == ErrorCode.CONSUMER_NOT_FOUND:
            return None
        raise


def compare_stream(stream: Stream, target: Target, info: Json | None, rules: Rules) -> Step | None:
    """Return the step for a stream or bucket, without its consumers; None when it already is as declared.

    info: the live stream's, None if there is none. What it deletes is for `losses`.
    """
    live = info["config"] if info else None
    claimed = replace(stream, config=_claim(stream, live))
    if stream.kind:
        step = _compare_bucket(stream.kind, claimed, target, live, rules)
    else:
        step = _compare(_STREAM, claimed, target, live, rules)
    return step and step._replace(item=stream, allows_loss=stream.allows_data_loss)


def compare_consumer(
    consumer: Consumer, stream: str, target: Target, info: Json | None, rules: Rules
) -> Step | None:
    """Return the step for a consumer; None when it already is as declared. info: the live consumer's, None if
    there is none."""
    live = info["config"] if info else None
    claimed = replace(consumer, config=with_label(consumer.config, consumer.label))
    step = _compare(_CONSUMER, claimed, target, live, rules, stream)
    return step and step._replace(item=consumer)


async def fetch_consumers(
    declared: Sequence[Consumer], stream: str, target: Target, stream_info: Json | None
) -> list[Json | None]:
    """Return the infos of declared consumers, None for each that does not exist."""
    if stream_info is None:
        return [None for _ in declared]
    return await gather(fetch_consumer(target, stream, each.name) for each in declared)


def collect(errors: list[BadInput], compare: Callable[..., Step | None], *args: object) -> Step | None:
    """Return the step of a comparison; None after a BadInput, which is added to `errors`."""
    with collecting(errors):
        return compare(*args)
    return None


async def plan_stream_removal(target: Target, info: Json, label: str, rules: Rules) -> Step:
    """Return the removal of a stream that carries a label; its notes name the consumers that do not."""
    name = str(info["config"]["name"])
    notes: list[str] = []
    if int(info["state"].get("consumer_count") or 0):
        listed = await consumers.list_consumers(target.api, name)
        notes = [
            describe_consumer(other, label) for other in listed.infos if get_label(other["config"]) != label
        ]
        notes += [f"consumer {missing}, which does not answer" for missing in listed.missing]
    step = Step("remove", target, name, "", "", info["config"], None, kind=find_bucket_kind(name))
    loss = measure_stream(info)
    # An empty stream is protected, too.
    refused = rules.find_protection(info["config"], UNKNOWN)
    return step._replace(loss=loss, together=loss, label=label, notes=notes, refused=refused)


def plan_consumer_removal(target: Target, info: Json, label: str) -> Step:
    """Return the removal of a consumer that carries a label; its note says how far it was."""
    step = Step("remove", target, str(info["stream_name"]), str(info["name"]), "", info["config"], None)
    return step._replace(label=label, notes=[describe_position(info)])


def describe_consumer(info: Json, label: str) -> str:
    """Return a consumer with its position, and its owner if that is not `label`."""
    owner = get_label(info["config"])
    words = "" if owner == label else f", of label {owner}" if owner else ", which nobody declares"
    return f"consumer {info['name']}{words}: {describe_position(info)}"


def describe_position(info: Json) -> str:
    """Return how far a consumer is: `12 messages pending, ack floor 88`."""
    floor = int((info.get("ack_floor") or {}).get("stream_seq") or 0)
    outstanding = int(info.get("num_pending") or 0) + int(info.get("num_ack_pending") or 0)
    return f"{pluralize(outstanding, 'message')} pending, ack floor {floor}"


async def plan_again(step: Step, rules: Rules) -> Step | None:
    """Return the step for what the server has now; None when nothing is left to do.

    Raises Stale when it is not what the plan said: other changes, more deleted messages, another owner.
    """
    fresh = await compare_again(step, rules)
    if fresh is None:
        return None
    (fresh,) = await with_losses([fresh], rules.find_protection)
    if fresh.summary != step.summary:
        raise Stale("it was changed since the plan was made", fresh)
    if fresh.loss.exceeds(step.loss) and not rules.may_delete_more(allows_loss=step.allows_loss):
        raise Stale(f"this now deletes {fresh.loss}, and the plan said {step.loss}", fresh)
    return fresh


async def compare_again(step: Step, rules: Rules) -> Step | None:
    """Return the step for what the server has now; None when nothing is left to do."""
    stream_info = await fetch_stream(step.target, step.stream)
    if isinstance(step.item, Stream) and step.is_content:
        return await CONTENTS[step.part].compare(step.item, step.target, stream_info)
    if isinstance(step.item, Stream):
        return compare_stream(step.item, step.target, stream_info, rules)
    if isinstance(step.item, Consumer):
        (info,) = await fetch_consumers([step.item], step.stream, step.target, stream_info)
        fresh = compare_consumer(step.item, step.stream, step.target, info, rules)
        return fresh and fresh._replace(allows_loss=step.allows_loss)
    if stream_info is None:
        return None
    if step.is_release:
        before = STREAM.without_server_keys(stream_info["config"])
        after = {**before, "subjects": (step.after or {})["subjects"]}
        return step._replace(before=before, after=after, changes=find_differences(before, after, STREAM))
    if not step.consumer:
        return await plan_stream_removal(step.target, stream_info, get_label(stream_info["config"]), rules)
    info = await fetch_consumer(step.target, step.stream, step.consumer)
    if info is None:
        return None
    label = get_label(info["config"])
    return plan_consumer_removal(step.target, info, label)


def _claim(stream: Stream, live: Json | None) -> Json:
    """Return a stream's declared keys with the label of its file, unless the file only adds consumers to
    it."""
    if live is not None and stream.is_bare and get_label(live) != stream.label:
        return stream.config
    return with_label(stream.config, stream.label)


def _compare(
    noun: _Noun, item: Stream | Consumer, target: Target, live: Json | None, rules: Rules, stream: str = ""
) -> Step | None:
    """Return the step for a stream, or for a consumer of `stream`."""
    schema, names = noun.schema, (stream, item.name) if stream else (item.name, "")
    if live is None:
        config = without_none(item.config)
        changes = find_differences({}, config, schema)
        after = schema.with_defaults(config) if isinstance(schema, BucketSchema) else config
        validate_keys(schema, after, item.position)
        return Step("create", target, *names, item.position, None, after, changes, item=item)
    before = schema.without_server_keys(live)
    after = noun.merge(before, item.config)
    validate_keys(schema, after, item.position)
    changes = find_differences(before, after, schema)
    if not changes:
        return None
    refused = rules.find_other_owner(get_label(after), live)
    if live.get("sealed") and not after.get("sealed"):  # a trial on another server does not tell it of a swap
        refused = {**refused, "sealed": "a stream that is sealed stays so: leave it out, or say true"}
    return Step("change", target, *names, item.position, before, after, changes, refused, item=item)


def _compare_bucket(
    kind: BucketSchema, bucket: Stream, target: Target, live: Json | None, rules: Rules
) -> Step | None:
    """Return the step for a bucket, compared in the bucket's own keys and sent as the stream that holds
    it."""
    before = None if live is None else STREAM.without_server_keys(live)
    live_bucket = None if live is None else kind.from_stream(live)
    step = _compare(_Noun(kind, partial(merge_bucket, kind)), bucket, target, live_bucket, rules)
    if step is None or step.after is None:
        return step
    return step._replace(before=before, after=kind.to_stream(step.after, before), kind=kind)
