"""`jsctl context validate`."""

import asyncio

from jsctl.commands.cli import argument, command, option
from jsctl.contexts.model import strip_logins
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.nats.context_check import ContextCheck, check_context
from jsctl.views.context import validate as view
from jsctl.views.result import Result

_AT_ONCE = 8


@command("validate", columns=(), examples=["jsctl context validate", "jsctl context validate hub --connect"])
@argument("name", required=False, noun="context")
@option("--connect", is_flag=True, help="Try to connect with each")
async def validate(env: Env, name: str | None, connect: bool) -> Result:
    store = env.contexts
    gate = asyncio.Semaphore(_AT_ONCE)

    async def check(name: str) -> ContextCheck:
        async with gate:
            try:
                context = store.find(name)
            except BadInput as error:
                return ContextCheck(strip_logins(name), [strip_logins(error.message)])
            return await check_context(context, env.flags, connect=connect)

    return view.table(await asyncio.gather(*map(check, [name] if name else store.names())))
