"""`jsctl context validate`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.context._check import check
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.context import contexts as view
from jsctl.views.result import Result


@command("validate", examples=["jsctl context validate", "jsctl context validate hub --connect"])
@argument("name", required=False, noun="context")
@option("--connect", is_flag=True, help="Try to connect with each")
async def validate(env: Env, name: str | None, connect: bool) -> Result:
    import asyncio

    store = env.contexts
    gate = asyncio.Semaphore(8)

    async def one(wanted: str) -> view.Checked:
        async with gate:
            try:
                context = store.find(wanted)
            except BadInput as error:
                return view.Checked(wanted, [error.message])
            return await check(env, context, connect=connect)

    return view.validation(await asyncio.gather(*map(one, [name] if name else store.names())))
