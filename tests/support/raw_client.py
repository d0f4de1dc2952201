"""A client that speaks the protocol itself, and reports what the server refuses."""

import base64
import json
import re
import socket
from collections.abc import Iterable
from typing import Self

from jsctl.auth.keys import KeyPair

_REFUSED = re.compile(r"-ERR '(.*)'")


class RawClient:
    """A connection of a user with a JWT. refused: why the server did not let it in; empty when it did."""

    def __init__(self, port: int, token: str, key: KeyPair) -> None:
        self._link = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._file = self._link.makefile("rb")
        info = json.loads(self._file.readline().decode().removeprefix("INFO "))
        signature = base64.urlsafe_b64encode(key.sign(info["nonce"].encode())).decode().rstrip("=")
        connect = {"jwt": token, "sig": signature, "verbose": False, "pedantic": False, "lang": "test"}
        self.refused = ", ".join(self.send([f"CONNECT {json.dumps(connect)}"]))

    def send(self, lines: Iterable[str]) -> list[str]:
        """Send lines of the protocol and return the errors that come back."""
        self._link.sendall("".join(f"{line}\r\n" for line in [*lines, "PING"]).encode())
        errors = []
        while line := self._read():
            if line == "PONG":
                break
            if match := _REFUSED.match(line):
                errors.append(match[1])
        return errors

    def _read(self) -> str:
        try:
            return self._file.readline().decode().strip("\r\n") or (" " if self._file.peek() else "")
        except ConnectionError:
            return ""

    def close(self) -> None:
        self._file.close()
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
