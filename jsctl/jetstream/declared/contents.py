"""What files declare of what a stream holds, beside its configuration and its consumers."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from jsctl.jetstream.api import Json
from jsctl.jetstream.declared import values
from jsctl.jetstream.declared.model import Stream
from jsctl.jetstream.declared.step import Step, Target


class Content(NamedTuple):
    """How its steps are planned, from the info of the stream, None if there is none; done; and taken back."""

    compare: Callable[[Stream, Target, Json | None], Awaitable[Step | None]]
    send: Callable[[Step], Awaitable[None]]
    take_back: Callable[[Step], Awaitable[None]]


CONTENTS: Mapping[str, Content] = {
    values.PART: Content(values.compare_values, values.store_values, values.restore_values)
}
"""By the `part` of their steps."""
