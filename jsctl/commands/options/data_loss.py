"""The permission to delete messages, where nobody is asked or the stream is protected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from jsctl.base.units import join_some
from jsctl.commands.cli import declare_all, option
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message.change_estimate import estimate_stream_loss
from jsctl.jetstream.message.data_loss import DataLoss, add_losses
from jsctl.jetstream.message.takers import list_taken
from jsctl.jetstream.stream.protection import endangers
from jsctl.views.intent import Intent

_WORDS = (
    ("delete", "deletes", "of"),
    ("take", "takes", "out of work queue"),
    ("cut off", "cuts off", "of"),
)

loss_flags = declare_all(
    option("--allow-data-loss", is_flag=True, help="Do it even if that deletes messages"), unprotect_flag
)
"""The flags of `LossOptions`."""


class Losing(NamedTuple):
    """What loses messages. label: its name. info: of the stream that holds them; empty for several. how: they
    are deleted; a copy takes them out of a work queue; or nobody reaches them any more. endangers: whether
    it needs permission for a protected stream even if it loses nothing."""

    label: str
    info: Json
    loss: DataLoss
    how: Literal["delete", "take", "cut off"] = "delete"
    endangers: bool = False

    def describe(self) -> str:
        """Return it as part of a question: `delete 3 messages (90 B)`; empty for no loss."""
        if not self.loss:
            return ""
        where = f" out of work queue {self.label}" if self.how == "take" else ""
        return f"{self.how} {self.loss}{where}"


@dataclass(frozen=True, slots=True)
class LossOptions:
    """The flags of a verb that may delete messages besides what it is for; part of its options."""

    allow_data_loss: bool
    unprotect: tuple[str, ...]

    def refuse(self, env: Env, losing: Sequence[Losing], *, force: bool, needs_force: bool = True) -> None:
        """Raise JsctlError for messages of a protected stream, and BadInput for messages that are deleted
        without a question, unless flags permit it; say then what is lost.

        needs_force: whether it needs --force, too, without a terminal.
        """
        self.check(env, losing)
        refuse_unasked_loss(env, losing, force=force, allow=self.allow_data_loss, needs_force=needs_force)
        say_unasked_loss(env, losing, force=force)

    def check(self, env: Env, losing: Sequence[Losing]) -> None:
        """Raise JsctlError for messages of a protected stream, and what `Env.on_loss` raises."""
        env.on_loss(add_losses(item.loss for item in losing))
        infos = [item.info for item in losing]
        refuse_protected(infos, self.unprotect, [item.info for item in losing if item.loss or item.endangers])

    async def confirm(self, env: Env, intent: Intent, losing: Sequence[Losing], *, force: bool) -> None:
        """Ask before something is done, as `Env.confirm` does, after `refuse`. A dry run is refused for a
        protected stream, too."""
        self.check(env, losing)
        env.announce(intent)
        self.refuse(env, losing, force=force)
        await env.confirm(intent, force=force)


async def confirm_taking(env: Env, permits: LossOptions, action: str, losing: Sequence[Losing]) -> None:
    """Ask before something that takes messages out of work queues. action: "add Stream ORDERS"."""
    permits.refuse(env, losing, force=permits.allow_data_loss, needs_force=False)
    words = [item.describe() for item in losing if item.loss]
    if words and not permits.allow_data_loss and not env.mirrors_nats:
        await env.require_yes(f"Really {action} and {' and '.join(words)}", flag="--allow-data-loss")


def describe_losses(losing: Sequence[Losing]) -> str:
    """Return what is deleted, after a subject: `deletes 3 messages (90 B) of Stream A`; empty for nothing."""
    words = []
    for how, start, link in _WORDS:
        lost = [item for item in losing if item.loss and item.how == how]
        if lost:
            names = join_some([item.label for item in lost], 3)
            words.append(f"{start} {add_losses(item.loss for item in lost)} {link} {names}")
    return " and ".join(words)


def refuse_unasked_loss(
    env: Env, losing: Sequence[Losing], *, force: bool, allow: bool, needs_force: bool, also: str = ""
) -> None:
    """Raise BadInput for messages that are deleted without a question, unless `allow`.

    needs_force: whether it needs --force, too, without a terminal. also: another way to permit it.
    """
    words = describe_losses(losing)
    if not words or allow or env.mirrors_nats or (env.can_ask and not force):  # DATA_LOSS
        return
    flags = "--force --allow-data-loss" if needs_force and not force else "--allow-data-loss"
    raise BadInput(f"this {words}", f"{flags} permits it{also}")


def say_unasked_loss(env: Env, losing: Sequence[Losing], *, force: bool) -> None:
    """Say what is lost besides what a verb is for, unless a question says it: also into a pipe, so that cron
    sends mail if something is lost, and only then."""
    if (words := describe_losses(losing)) and (force or not env.can_ask):
        env.say(f"[{env.place}] this {words}")


async def find_losing(env: Env, api: Api, label: str, info: Json, after: Json) -> list[Losing]:
    """Return what is lost when a stream's configuration becomes `after`: its messages, and those that it then
    takes out of work queues. label: its name."""
    loss = await estimate_stream_loss(api, info, after)
    own = Losing(label, info, loss, endangers=endangers(info["config"], after))
    return [own, *await find_taken(env, api, after, info["config"])]


async def find_taken(env: Env, api: Api, config: Json, before: Json | None = None) -> list[Losing]:
    """Return what a stream's mirror and sources that are new take out of work queues; say if nobody tells."""
    losing: list[Losing] = []
    for origin, info, loss in await list_taken(api, config, before):
        if info is None:
            env.say(f"warning: {origin} does not say whether it is a work queue, which loses what is copied")
        else:
            losing.append(Losing(origin, info, loss, "take"))
    return losing
