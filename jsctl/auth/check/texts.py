"""Checks of the descriptions and URLs of accounts and exports (nats-io/jwt: v2/types.go, Info)."""

from urllib.parse import urlsplit

from jsctl.auth.claims import Json, as_text

MAX_INFO = 8 * 1024
"""Maximum number of bytes of a description or URL."""


def find_info_problem(claims: Json) -> str:
    """Return what is wrong with `description` or `info_url`; empty when both are valid."""
    description, url = as_text(claims.get("description")), as_text(claims.get("info_url"))
    if len(description.encode()) > MAX_INFO:
        return f"the description has more than {MAX_INFO:,} bytes"
    if len(url.encode()) > MAX_INFO:
        return f"the URL has more than {MAX_INFO:,} bytes"
    try:
        parts = urlsplit(url)
        valid = bool(parts.scheme and parts.hostname)
    except ValueError:
        valid = False
    return f"the URL {url!r} has no host or no protocol" if url and not valid else ""
