"""The permission to delete messages, where nobody is asked."""

from collections.abc import Sequence

from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.data_loss import DataLoss, add_losses

_MAX_NAMES = 3


def refuse_unasked_loss(
    env: Env,
    losses: Sequence[tuple[str, DataLoss]],
    *,
    force: bool,
    allow: bool,
    needs_force: bool,
    also: str = "",
) -> None:
    """Raise BadInput for messages that are deleted without a question, unless `allow`.

    losses: names, with what each of them loses. needs_force: whether it needs --force, too, without a
    terminal. also: another way to permit it.
    """
    losing = [(name, loss) for name, loss in losses if loss]
    if not losing or allow or (env.can_ask and not force):
        return
    names = ", ".join(name for name, _ in losing[:_MAX_NAMES]) + (", ..." if losing[_MAX_NAMES:] else "")
    flags = "--force --allow-data-loss" if needs_force and not force else "--allow-data-loss"
    raise BadInput(
        f"this deletes {add_losses(loss for _, loss in losing)} of {names}", f"{flags} permits it{also}"
    )
