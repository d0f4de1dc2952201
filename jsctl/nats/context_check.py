"""Checks of a context: its settings and files, and whether a server accepts it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from jsctl.contexts.layers import resolve
from jsctl.contexts.model import Context
from jsctl.contexts.update import find_contradictions
from jsctl.errors import ExitStatus, JsctlError
from jsctl.nats import login
from jsctl.nats.connection import Connection


class ContextCheck(NamedTuple):
    """The outcome of a check.

    problems: what is wrong with the context itself. tried: whether a connection was attempted. error: why
    that failed, None when it succeeded.
    """

    name: str
    problems: list[str]
    tried: bool = False
    error: JsctlError | None = None

    @property
    def status(self) -> ExitStatus:
        """The exit status of a command that is about this context."""
        if self.problems:
            return ExitStatus.FAILURE
        return self.error.status if self.error else ExitStatus.OK


async def check_context(context: Context, flags: Mapping[str, Any], *, connect: bool) -> ContextCheck:
    """Check a context, its files and its login; with `connect`, also whether a server accepts it.

    flags: values by Settings field; only the timeout and the name of the connection are used.
    """
    problems = find_contradictions(context)
    own_flags = {name: flags[name] for name in ("timeout", "connection_name") if name in flags}
    try:
        settings = resolve(own_flags, context)
        await login.validate(settings)
    except JsctlError as error:
        return ContextCheck(context.name, [*problems, error.message])
    if not connect or problems:
        return ContextCheck(context.name, problems)
    try:
        connection = await Connection.open(settings, reconnect=False)
    except JsctlError as error:
        return ContextCheck(context.name, problems, True, error)
    await connection.close()
    return ContextCheck(context.name, problems, True)
