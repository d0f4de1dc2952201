"""`jsctl service serve`."""

import os

from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.respond import Request
from jsctl.nats.headers import Headers, encode_headers
from jsctl.services.host import EchoService
from jsctl.views.events import End, Events, Presentation
from jsctl.views.message import reply as reply_view


@command("serve", examples=["jsctl service serve demo", "jsctl service serve demo -H 'Region: eu'"])
@argument("name", metavar="NAME", label="Name of the service")
@option(
    "--header", "-H", "headers", metavar="K:V", multiple=True, help="Header of the answers; may be repeated"
)
async def serve(env: Env, name: str, headers: tuple[str, ...]) -> Events[Request]:
    """Offer one endpoint, echo, on the subject NAME.echo, until ctrl-C. Several services of the same name
    share the requests.
    """
    pairs: Headers = []
    for text in headers:
        key, sign, value = text.partition(":") if ":" in text else text.partition("=")
        if not sign or not key.strip():
            raise BadInput(f"{text!r} is not a valid header", "use K:V")
        pairs.append((key.strip(), value.strip()))
    encode_headers(pairs)
    connection = await env.connection()
    service = EchoService(connection, name, pairs)
    env.say(f"Service {name} ({service.id}) waits for requests on {service.subject}, process {os.getpid()}")
    return Events(
        batches=service.answer_requests(),
        shown=Presentation(text=reply_view.text, record=reply_view.record, notice=reply_view.notice),
        end=End(noun="request", endless=True, stop=service.stop),
        answers=True,
    )
