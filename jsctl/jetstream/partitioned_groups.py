"""Partitioned consumer groups: their configurations, members and lag, as programs with orbit.go's `pcgroups`
have them.

A group of a stream divides its messages into partitions, by the first token of their subjects, and each
partition is read by one member. Subjects of a *static* group's stream have that token already; members read
this stream, and do not change. An *elastic* group has a stream of its own, a work queue that sources the
other one and puts the token there; members come and go. Configurations are JSON in a bucket for each kind.
The members create their consumers, with a pinned priority group, so that of several processes with a member's
name one gets messages.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.base.json_text import parse_json
from jsctl.base.units import pluralize
from jsctl.errors import ApiError, BadInput, JsctlError, MissingName, NotFound
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.kv import bucket as buckets
from jsctl.jetstream.kv import read, write
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.entry import DELETE, Entry
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.subjects import is_subject, validate_name

Kind = Literal["static", "elastic"]
KINDS: tuple[Kind, ...] = ("static", "elastic")
PRIORITY_GROUP = "PCG"  #: of the members' consumers


class Group(NamedTuple):
    """A group. config: as it is stored, whatever keys it has. revision: of its entry in the bucket, 0 for a
    new group.
    """

    stream: str
    name: str
    kind: Kind
    config: Json
    revision: int = 0

    @property
    def label(self) -> str:
        """Its name for people."""
        return f"consumer group {self.stream} > {self.name}"

    @property
    def key(self) -> str:
        """Its key in the bucket."""
        return f"{self.stream}.{self.name}"

    @property
    def queue(self) -> str:
        """The stream that its members read."""
        return self.stream if self.kind == "static" else f"{self.stream}-{self.name}"

    @property
    def members(self) -> list[str]:
        """The names of its members."""
        mapped = [str(mapping["member"]) for mapping in self.config.get("member_mappings") or ()]
        return list(dict.fromkeys([*mapped, *(self.config.get("members") or ())]))

    @property
    def owners(self) -> dict[int, str]:
        """The member that reads each partition which has one (pcgroups: GeneratePartitionFilters)."""
        if mappings := self.config.get("member_mappings"):
            return {
                number: mapping["member"]
                for mapping in mappings
                for number in mapping.get("partitions") or ()
            }
        count = int(self.config["max_members"])
        members = sorted(set(self.members))[:count]
        if not members:
            return {}
        each = count // len(members)
        shared = each * len(members)  # the partitions after these are the remainder
        return {
            number: members[number // each if number < shared else number - shared] for number in range(count)
        }

    @property
    def subjects(self) -> list[str]:
        """The filters of its members' consumers, without the token of the partition."""
        if self.config.get("member_mappings"):
            return [">"]
        if self.kind == "static":
            return self.config.get("filters") or [">"]
        return [str(each["filter"]) for each in self.config.get("partitioning_filters") or ()] or [">"]

    @property
    def violation(self) -> str:
        """What is wrong with its configuration, with which members do not start; empty for nothing."""
        is_json = self.config and _has_types(self.config)
        return _find_violation(self.config) if is_json else "it is not the JSON of a group"

    def name_consumer(self, member: str) -> str:
        """Return the name of a member's consumer."""
        return f"{self.name}-{member}" if self.kind == "static" else member

    def check_member(self, member: str) -> str:
        """Return the name of a member. Raises NotFound."""
        if member not in self.members:
            names = ", ".join(self.members) or "none"
            raise NotFound(f"{self.label} has no member {member}", f"its members: {names}")
        return member


def _has_types(config: Json) -> bool:
    """Return whether the values of a configuration have the types that orbit.go decodes them to."""

    def are(kind: type, *lists: Any) -> bool:
        return all(
            each is None or (isinstance(each, list) and all(type(item) is kind for item in each))
            for each in lists
        )

    filters, mappings = config.get("partitioning_filters"), config.get("member_mappings")
    limits = [config.get(key, 0) for key in ("max_members", "max_buffered_msg", "max_buffered_bytes")]
    is_flat = are(int, limits) and are(str, config.get("members"), config.get("filters"))
    if not is_flat or not are(dict, filters, mappings):
        return False
    names = [each.get("filter") for each in filters or ()] + [each.get("member") for each in mappings or ()]
    numbers = [each.get("partitioning_wildcards") for each in filters or ()]
    return are(str, names) and are(int, *numbers, *(each.get("partitions") for each in mappings or ()))


def _find_violation(config: Json) -> str:
    """Return what is wrong with a configuration (pcgroups: validateConfig, validateStaticConfig)."""
    count, members = config.get("max_members", 0), config.get("members") or []
    mappings: Sequence[Json] = config.get("member_mappings") or []
    if count < 1:
        return "the number of partitions must be 1 or more"
    if members and mappings:
        return "members have partitions mapped to them, or none of them has"
    for each in config.get("partitioning_filters") or ():
        if problem := _find_filter_violation(each["filter"], each.get("partitioning_wildcards") or []):
            return problem
    numbers = sorted(number for mapping in mappings for number in mapping.get("partitions") or ())
    if mappings and numbers != list(range(count)):
        return f"each of the partitions 0 to {count - 1} must be mapped to one member"
    if len({mapping["member"] for mapping in mappings}) < len(mappings) or len(mappings) > count:
        return "each member must be mapped once, and at most as many as there are partitions"
    return ""


def _find_filter_violation(subject: str, wildcards: Sequence[int]) -> str:
    tokens = subject.split(".")
    stars = tokens.count("*")
    if not is_subject(subject) or not (stars or tokens[-1] == ">"):
        return f"filter {subject!r} must be a subject with a * as a token, or > at its end"
    if len(set(wildcards)) < len(wildcards) or not all(1 <= number <= stars for number in wildcards):
        return f"filter {subject!r} has {pluralize(stars, 'wildcard')} *: name each once, from 1 on, or none"
    return ""


# -- stored groups ----------------------------------------------------------------------------------


async def _open_bucket(api: Api, kind: Kind) -> Bucket | None:
    """Fetch the bucket of a kind; None before there is a group."""
    try:
        return await buckets.open_bucket(api, f"{kind}-consumer-groups")
    except MissingName:
        return None


def _decode(kind: Kind, entry: Entry) -> Group:
    stream, _, name = entry.key.partition(".")
    try:
        config = parse_json(entry.value)
    except ValueError:
        config = {}
    return Group(stream, name, kind, config if isinstance(config, dict) else {}, entry.revision)


async def list_groups(api: Api, stream: str = "") -> list[Group]:
    """Return the groups of a stream, by default of all, sorted; their configurations may not be valid."""
    groups: list[Group] = []
    for kind in KINDS:
        if bucket := await _open_bucket(api, kind):
            pages = read.fetch_newest_entries(bucket, [f"{stream}.>" if stream else ">"])
            groups += [_decode(kind, entry) async for page in pages for entry in page if entry.is_value]
    return sorted(groups)


async def list_names(api: Api, stream: str) -> list[str]:
    """Return the names of a stream's groups."""
    return list(dict.fromkeys(group.name for group in await list_groups(api, stream)))


async def _find_groups(api: Api, stream: str, name: str, kinds: Sequence[Kind]) -> list[Group]:
    groups: list[Group] = []
    for kind in kinds:
        bucket = await _open_bucket(api, kind)
        entry = await read.fetch_newest_entry(bucket, f"{stream}.{name}") if bucket else None
        groups += [_decode(kind, entry)] if entry and entry.is_value else []
    return groups


async def fetch_group(
    api: Api, stream: str, name: str, kind: Kind | None = None, *, is_valid: bool = True
) -> Group:
    """Fetch a group, of either kind unless one is given. is_valid: whether its configuration must be; if not,
    a group is also one of which only its own stream is left, with revision 0.

    Raises MissingName for no such stream or group, BadInput if there is one of each kind, JsctlError.
    """
    groups = await _find_groups(api, stream, name, [kind] if kind else KINDS)
    if not groups and not is_valid and kind != "static":
        groups = await _find_half_removed(api, Group(stream, name, "elastic", {}, 0))
    if not groups:
        await streams.fetch_info(api, stream)
        text = registry.find_noun("pcgroup").missing(name, stream, domain=api.domain)
        raise MissingName(ErrorCode.NO_MESSAGE_FOUND, text, name, lambda: list_names(api, stream))
    if len(groups) > 1:
        raise BadInput(f"there are two groups {name} of stream {stream}", "specify --kind static or elastic")
    if is_valid and groups[0].violation:
        line = build_line("consumer pcgroup rm", stream, name)
        problem = f"the configuration of {groups[0].label} is not valid: {groups[0].violation}"
        raise JsctlError(problem, f"{line} removes it")
    return groups[0]


async def _find_half_removed(api: Api, group: Group) -> list[Group]:
    """Return an elastic group of which only its own stream is left, as after a removal that was killed."""
    info = await streams.fetch_info_or_none(api, group.queue)
    sources = info["config"].get("sources") or () if info else ()
    transforms = [each for source in sources for each in source.get("subject_transforms") or ()]
    is_own = transforms and all(each["dest"].startswith("{{Partition(") for each in transforms)
    return [group] if is_own and [source["name"] for source in sources] == [group.stream] else []


# -- changes ----------------------------------------------------------------------------------------


def build_group(stream: str, name: str, kind: Kind, config: Json) -> Group:
    """Return a new group. Raises BadInput for names and configurations that are not valid."""
    group = _check(Group(stream, name, kind, config))
    if kind == "static" and not group.members:
        raise BadInput("a static group needs its members", "specify MEMBER")
    return group


def _check(group: Group) -> Group:
    if group.violation:
        raise BadInput(group.violation)
    try:
        validate_name(group.name, "consumer group")
        for member in group.members:
            validate_name(member, "member")
    except ValueError as error:
        raise BadInput(str(error)) from None
    return group


def build_queue(group: Group, source: Json) -> Json:
    """Return the configuration of an elastic group's own stream (pcgroups: CreateElastic). source: that of
    the stream that it sources.
    """
    count, config = group.config["max_members"], group.config
    filters = config["partitioning_filters"] or [{"filter": ">"}]
    transforms = [{"src": each["filter"], "dest": _build_destination(each, count)} for each in filters]
    return {
        "name": group.queue,
        "retention": "workqueue",
        "storage": source["storage"],
        "num_replicas": source["num_replicas"],
        "max_msgs": config.get("max_buffered_msg", -1),
        "max_bytes": config.get("max_buffered_bytes", -1),
        "discard": "new",
        "allow_direct": True,
        "sources": [{"name": group.stream, "subject_transforms": transforms}],
    }


def _build_destination(given: Json, count: int) -> str:
    """Return the subject that a filter's subjects become, with the number of one of `count` partitions."""
    tokens, stars = [], 0
    for token in str(given["filter"]).split("."):
        stars += token == "*"
        tokens.append(f"{{{{Wildcard({stars})}}}}" if token == "*" else token)
    arguments = ",".join(map(str, [count, *(given.get("partitioning_wildcards") or ())]))
    return ".".join([f"{{{{Partition({arguments})}}}}", *tokens])


async def find_existing(api: Api, group: Group) -> Group | None:
    """Return the group of this kind and name that exists with this configuration; members of an elastic group
    may differ unless some are named. Raises JsctlError for another configuration."""
    existing = next(iter(await _find_groups(api, group.stream, group.name, [group.kind])), None)
    keys = {"max_members", "filters", "partitioning_filters", "max_buffered_msg", "max_buffered_bytes"}
    if group.kind == "static" or group.members:
        keys |= {"members", "member_mappings"}
    if existing and any((existing.config.get(key) or 0) != (group.config.get(key) or 0) for key in keys):
        line = build_line("consumer pcgroup rm", group.stream, group.name)
        raise JsctlError(f"{group.label} exists with another configuration", f"{line} removes it")
    return existing


async def create(api: Api, group: Group, source: Json) -> Group:
    """Create a group, and the stream of an elastic one; return it. Of one that exists, only the stream is
    created. source: the configuration of the stream that it reads.

    Nothing is left of it after an error. Raises BadInput for a server before 2.11, ApiError.
    """
    await api_levels.require(api, {ApiLevel.V2_11: ["consumer pcgroup"]})
    bucket = await _open_bucket(api, group.kind)
    if bucket is None:
        from jsctl.jetstream.kv.config import BUCKET  # other verbs do not need it

        config = {"name": f"{group.kind}-consumer-groups", "num_replicas": source["num_replicas"]}
        bucket, _ = await buckets.create(api, BUCKET.with_defaults(config))
    is_queue_new = False
    if group.kind == "elastic":
        _, is_queue_new = await streams.create(api, build_queue(group, source))
    if group.revision:
        return group
    try:
        revision = await write.create(bucket, group.key, _encode(group.config))
    except JsctlError:
        if is_queue_new:
            await streams.delete(api, group.queue)
        raise
    return group._replace(revision=revision)


def with_members(group: Group, config: Mapping[str, Any]) -> Group:
    """Return an elastic group with other members. config: `members` or `member_mappings`. Raises BadInput for
    a configuration that is not valid."""
    rest = {key: group.config[key] for key in group.config if key not in ("members", "member_mappings")}
    after = group._replace(config={**rest, **{key: value for key, value in config.items() if value}})
    return _check(after)


async def change_members(api: Api, group: Group, after: Group) -> Group:
    """Store the configuration of a group with other members; return it. Raises JsctlError if somebody has
    changed it meanwhile."""
    bucket = await buckets.open_bucket(api, "elastic-consumer-groups")
    try:
        revision = await write.update(bucket, group.key, _encode(after.config), group.revision)
    except write.Conflict:
        hint = "nothing was changed; run it again"
        raise JsctlError(f"{group.label} was changed meanwhile", hint) from None
    return after._replace(revision=revision)


def _encode(config: Json) -> bytes:
    return json.dumps(config, ensure_ascii=False, separators=(",", ":")).encode()


async def delete(api: Api, group: Group) -> None:
    """Remove the configuration of a group, for which its members end, and the consumers of a static one."""
    if group.revision:
        bucket = await buckets.open_bucket(api, f"{group.kind}-consumer-groups")
        await write.mark(bucket, group.key, DELETE)
    for name in await list_consumer_names(api, group) if group.kind == "static" else ():
        try:
            await consumers.delete(api, group.queue, name)
        except ApiError as error:  # the members remove theirs, too
            if error.code != 404:
                raise


# -- members ---------------------------------------------------------------------------------------


async def list_consumer_names(api: Api, group: Group) -> list[str]:
    """Return the names of the members' consumers that exist."""
    return [str(info["name"]) for info in (await fetch_consumers(api, group)).values()]


async def fetch_consumers(api: Api, group: Group) -> dict[str, Json]:
    """Return the infos of the consumers of the members that have one. Raises NotFound if the stream that they
    read is gone."""
    try:
        listed = await consumers.collect(api, group.queue, lambda info: info)
    except MissingName as error:
        if group.kind == "static":
            raise
        hint = "jsctl consumer pcgroup create, with the same configuration, creates it again"
        raise NotFound(f"stream {group.queue} of {group.label} does not exist", hint) from error
    names = {group.name_consumer(member): member for member in group.members}
    return {names[name]: info for name, info in listed.items.items() if name in names}
