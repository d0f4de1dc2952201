"""A service that decides who users are (auth callout), as somebody would write one, with nats-py.

Servers ask on $SYS.REQ.USER.AUTH with a JWT of the request, encrypted where the account names a curve key;
the answer is a JWT with that of the user in it (nats-server: server/auth_callout.go).
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import nats
from nats.aio.msg import Msg

from jsctl.auth.jwt import decode_jwt, encode_jwt
from jsctl.auth.keys import KeyPair

SUBJECT = "$SYS.REQ.USER.AUTH"
_SERVERS_KEY = "Nats-Server-Xkey"

Json = dict[str, Any]


class CalloutService:
    """A callout service that accepts the users that it knows, by name and password.

    users: password and claims of each. signer: of its account; it signs the answers. target: the key that
    signs users, of the account that they get into; audience: names that account, in a server without an
    operator. curve: the key that requests are encrypted for. asked: the names that servers asked for.
    """

    def __init__(
        self,
        signer: KeyPair,
        target: KeyPair,
        users: Mapping[str, tuple[str, Json]],
        *,
        audience: str = "",
        curve: KeyPair | None = None,
    ) -> None:
        self._signer = signer
        self._target = target
        self._users = users
        self._audience = audience
        self._curve = curve
        self.asked: list[str] = []

    @contextmanager
    def running(self, url: str, **login: Any) -> Iterator[None]:
        """Run the service, connected with this login of nats-py."""
        ready, done = Event(), Event()

        async def serve() -> None:
            connection = await nats.connect(url, allow_reconnect=False, **login)
            try:
                await connection.subscribe(SUBJECT, cb=self._answer)
                await connection.flush()
                ready.set()
                await asyncio.to_thread(done.wait)
            finally:
                await connection.close()

        thread = Thread(target=lambda: asyncio.run(serve()), daemon=True)
        thread.start()
        try:
            assert ready.wait(10), "the service did not connect"
            yield
        finally:
            done.set()
            thread.join(10)

    async def _answer(self, message: Msg) -> None:
        data, asker = message.data, (message.headers or {}).get(_SERVERS_KEY, "")
        if self._curve and asker:
            data = self._curve.unseal(data, asker)
        request = decode_jwt(data.decode())["nats"]
        answer = encode_jwt(
            {
                "sub": request["user_nkey"],
                "aud": request["server_id"]["id"],
                "nats": {"type": "authorization_response", "version": 2, **self._decide(request)},
            },
            self._signer,
        ).encode()
        await message.respond(self._curve.seal(answer, asker) if self._curve and asker else answer)

    def _decide(self, request: Json) -> Json:
        options = request["connect_opts"]
        name = str(options.get("user") or "")
        self.asked.append(name)
        password, claims = self._users.get(name, ("", {}))
        if not password or options.get("pass") != password:
            return {"error": f"{name} is not known here"}
        nats_claims = {"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1, **claims}
        body: Json = {"sub": request["user_nkey"], "name": name, "nats": nats_claims}
        if self._audience:
            body["aud"] = self._audience
        return {"jwt": encode_jwt(body, self._target)}
