"""The `--data` half of `jsctl stream copy`: the flags that copy the messages, too."""

from dataclasses import dataclass
from typing import Any

from jsctl.commands.cli import declare_all, destructive, option
from jsctl.commands.observers.transfers import TerminalObserver
from jsctl.commands.options.data_loss import LossOptions, loss_flags
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.copy import CopyOptions, copy_stream
from jsctl.jetstream.backup.copy_transfer import Endpoint
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Result
from jsctl.views.shared.transfers import copy_intent
from jsctl.views.stream import copy as view


@dataclass(frozen=True, slots=True)
class DataOptions:
    """The flags of `data_flags`. Contexts and domains: empty for those of the command line."""

    data: bool
    from_context: str
    to_context: str
    from_domain: str | None
    to_domain: str | None
    consumers: bool
    compare: bool
    progress: bool
    force: bool
    permits: LossOptions

    def __post_init__(self) -> None:
        if not self.data and (self.consumers or not self.compare):
            raise BadInput("--consumers and --no-compare need --data")


_CONTEXT: dict[str, Any] = {"metavar": "NAME", "default": "", "noun": "context"}

data_flags = declare_all(
    option("--data", is_flag=True, help="Also copy the messages, with their sequences and times"),
    option("--from-context", help="Context of the source", **_CONTEXT),
    option("--to-context", help="Context of the copy", **_CONTEXT),
    option("--from-domain", metavar="DOMAIN", default=None, help="JetStream domain of the source"),
    option("--to-domain", metavar="DOMAIN", default=None, help="JetStream domain of the copy"),
    option("--consumers", is_flag=True, help="With --data, also copy the consumers and their state"),
    option("--compare/--no-compare", default=True, help="With --data, compare all messages afterwards"),
    option("--progress/--no-progress", default=True, help="Show a progress bar on a terminal"),
    loss_flags,
    destructive(
        "Remove what an unfinished copy left behind, without asking", "Only show what would be copied"
    ),
)
"""The flags of `DataOptions`."""


async def ends(env: Env, options: DataOptions, source: str, target: str) -> tuple[Endpoint, Endpoint]:
    """Return both streams with their servers."""
    source_api = await env.jetstream(options.from_context or None, options.from_domain, only_reads=True)
    target_api = await env.jetstream(options.to_context or None, options.to_domain)
    return Endpoint(source_api, source), Endpoint(target_api, target)


async def copy_data(
    env: Env, options: DataOptions, source: Endpoint, target: Endpoint, config: Json
) -> Result:
    """Copy a stream with its messages. config: the copy's, without what the server adds."""
    observer = TerminalObserver(env, options.permits, progress=options.progress, force=options.force)
    copy_options = CopyOptions(consumers=options.consumers, compare=options.compare)
    if env.dry_run and await streams.fetch_info_or_none(target.api, target.stream) is None:
        await streams.check_level(target.api, config)
        state = (await streams.fetch_info(source.api, source.stream))["state"]
        env.announce(copy_intent(source.stream, target.stream, state))
    copy = await copy_stream(source, target, config, copy_options, observer)
    for warning in (*copy.warnings, *copy.notes):
        env.say(f"warning: {warning}")
    return view.copied(copy)
