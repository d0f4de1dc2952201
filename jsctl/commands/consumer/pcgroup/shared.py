"""The common parts of the verbs of `jsctl consumer pcgroup`."""

from collections.abc import Sequence

import click

from jsctl.commands.cli import option
from jsctl.commands.picking.pick import open_stream, pick
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import partitioned_groups as groups
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.partitioned_groups import KINDS, Group, Kind

kind_flag = option(
    "--kind",
    type=click.Choice(KINDS),
    metavar="|".join(KINDS),
    help="Which one, if a stream has a group of each kind with this name",
)
"""Declare the flag that tells two groups apart."""


async def open_group(
    env: Env, stream: str, name: str, kind: Kind | None, *, is_valid: bool = True
) -> tuple[Api, Group]:
    """Return the JetStream API of the command line, and a group; names that are left out are picked."""
    api, stream = await open_stream(env, stream)
    name = await pick(env, "pcgroup", name, parent=stream, api=api)
    return api, await groups.fetch_group(api, stream, name, kind, is_valid=is_valid)


def parse_members(words: Sequence[str]) -> Json:
    """Return the part of a configuration with members: `members` for names, `member_mappings` for MEMBER:0,1.
    Raises BadInput."""
    if not any(":" in word for word in words):
        return {"members": list(dict.fromkeys(words))} if words else {}
    mappings = []
    for word in words:
        member, _, numbers = word.partition(":")
        if not member or not all(number.isdecimal() for number in numbers.split(",")):
            raise BadInput(
                f"{word!r} maps no partitions to a member", "use MEMBER:0,1 for all of the members"
            )
        mappings.append({"member": member, "partitions": [int(number) for number in numbers.split(",")]})
    return {"member_mappings": mappings}


def format_partitions(numbers: Sequence[int]) -> str:
    """Return partitions for people: `0-3, 7`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
