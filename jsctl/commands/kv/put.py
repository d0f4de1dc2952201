"""`jsctl kv put`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.kv.shared import complete_keys, open_named, read_value
from jsctl.env import Env
from jsctl.jetstream.kv import write
from jsctl.jetstream.kv.names import validate_new_key
from jsctl.loops import await_event_loop
from jsctl.views.kv import changes as view
from jsctl.views.result import Result


@command(
    "put",
    loop_free=True,
    takes_number=True,
    examples=[
        'jsctl kv put CONFIG user.1 \'{"name": "Ann"}\'',
        "jsctl kv put CONFIG logo < logo.png",
        "jsctl kv put CONFIG limit -5",
    ],
)
@argument("bucket")
@argument("new_key", metavar="KEY", label="Key", shell_complete=complete_keys)
@argument("value", required=False)
async def put(env: Env, bucket: str, new_key: str, value: str | None) -> Result:
    """Store VALUE or, without it or with -, all bytes of stdin. After -- a key or a value may begin with a
    dash.
    """
    key = validate_new_key(new_key)
    data = await read_value(env, value)
    if not bucket:
        await await_event_loop()  # the connection lives while the user picks one
    store = await open_named(env, bucket)
    return view.stored(store.name, key, await write.put(store, key, data))
