"""One request over HTTP. This module is slow to import."""

import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any

from jsctl.base.files import CONFIG_SIZE


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A login must not go to another host."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def request(
    url: str, headers: dict[str, str], timeout: float, body: bytes | None = None
) -> tuple[int, bytes]:
    """Send a GET, or a POST with a body; return the status and the answer's body, of which at most one byte
    more than CONFIG_SIZE is read.

    Redirects are not followed. timeout: seconds without a byte. Raises OSError, ValueError.
    """
    sent = urllib.request.Request(url, data=body, headers=headers)
    try:
        with urllib.request.build_opener(_NoRedirects()).open(sent, timeout=timeout) as answer:
            return answer.status, answer.read(CONFIG_SIZE + 1)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(CONFIG_SIZE + 1)
    except HTTPException as error:  # it is not HTTP
        raise OSError(f"the answer is not HTTP: {type(error).__name__}") from None
