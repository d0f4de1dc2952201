"""`jsctl demo guide` and `jsctl demo hub-spokes`: the leaf node documents, played on real servers."""

import signal
from collections.abc import Generator
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from jsctl.base.files import keep_folder, removing, temporary_folder
from jsctl.base.signals import Stopped, signals_as_interrupts
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import command, declare_all, option
from jsctl.commands.demo.player import Player, UserQuit
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.localserver import binary
from jsctl.localserver.demo import create_folder
from jsctl.localserver.walkthrough import Walkthrough, load_walkthrough
from jsctl.views.result import Result
from jsctl.views.server import walkthrough as view

StepResults = Generator[Result, None, Result]
"""Yields what is shown while steps are played, and returns what is shown last."""


_walkthrough_flags = declare_all(
    option("--step", is_flag=True, help="Wait for a key after each step"),
    option("--only", metavar="PART|N", default="", help="Show only this part or step"),
    option("--from", "from_", metavar="PART|N", default="", help="Show from this part or step on"),
    option("--list", "show_list", is_flag=True, help="List the parts and steps, and run nothing"),
    option("--keep", is_flag=True, help="Leave the network running"),
    option(
        "--to",
        metavar="DIR",
        default="",
        help="New folder for all files, which is kept (a temporary one)",
    ),
)
"""The flags that both walkthroughs take."""


@command(
    "guide",
    examples=["jsctl demo guide", "jsctl demo guide --step", "jsctl demo guide --only accounts"],
)
@_walkthrough_flags
def guide(env: Env, to: str, keep: bool, show_list: bool, from_: str, only: str, step: bool) -> StepResults:
    """Play the leaf node guide with two servers: a stream in the hub's domain and one in the leaf node's, a
    mirror and a source between them, a mirror in another account, and a consumer that is read through an
    import.

    Each step is one sentence, a command with its output, and checks; the first check that fails ends it with
    status 1. Servers listen on free ports of this machine. Steps before those of --from and --only are
    played, too, without their output. At the end, and after ctrl-C, everything is stopped and removed.
    """
    return _walk(env, load_walkthrough("guide"), to, keep, show_list, from_, only, step)


@command(
    "hub-spokes",
    examples=["jsctl demo hub-spokes", "jsctl demo hub-spokes --from outage --step"],
)
@_walkthrough_flags
def hub_spokes(
    env: Env, to: str, keep: bool, show_list: bool, from_: str, only: str, step: bool
) -> StepResults:
    """Play nine servers in three clusters: a stream mirrored into each spoke, two sources of the same name, a
    backup from spoke to spoke that survives an outage of the hub, and streams across and through accounts.

    Each step is one sentence, a command with its output, and checks; the first check that fails ends it with
    status 1. Servers listen on free ports of this machine. Steps before those of --from and --only are
    played, too, without their output. At the end, and after ctrl-C, everything is stopped and removed.
    """
    return _walk(env, load_walkthrough("hub-spokes"), to, keep, show_list, from_, only, step)


def _walk(
    env: Env,
    walkthrough: Walkthrough,
    to: str,
    keep: bool,
    show_list: bool,
    from_: str,
    only: str,
    step: bool,
) -> StepResults:
    if from_ and only:
        raise BadInput("--from and --only cannot be used together")
    first, last = 1, len(walkthrough.steps)
    if only:
        first, last = walkthrough.find(only)
    elif from_:
        first, _ = walkthrough.find(from_)
    if show_list:
        return view.listing(walkthrough)
    if step and not (env.streams.stdin.isatty() and env.streams.stderr.isatty()):
        raise BadInput("--step waits for keys, which needs a terminal", "leave it out")
    binary.find(env.environ)
    with _create_folder(to) as folder:
        player = Player(env, walkthrough, folder, wait_for_key=step)
        try:
            with signals_as_interrupts(), player:
                with suppress(UserQuit):
                    for result in player.play(first, last):
                        if not env.wants_json:
                            yield result
                if keep:
                    player.keep()
        except (KeyboardInterrupt, Stopped) as error:
            number = error.number if isinstance(error, Stopped) else signal.SIGINT
            raise Stopped("the walkthrough was stopped and removed", number=number) from None
        except JsctlError as error:
            keep_folder(folder)
            error = JsctlError(str(error), f"configurations and logs are in {folder}")
            return view.ended(folder, player.records)._replace(error=error)
        if to or keep:
            keep_folder(folder)
        return view.done(folder, player.records, keep=keep, temporary=not to)


def _create_folder(to: str) -> AbstractContextManager[Path]:
    """Create the folder of a walkthrough, which is removed unless it is kept. Raises BadInput, JsctlError."""
    return removing(create_folder(expand_home(to).absolute())) if to else temporary_folder("jsctl-demo-")
