"""What a tab completes to, beyond commands and flags: context, stream and consumer names.

A completion never fails and never waits long: whatever goes wrong completes to nothing.
"""

from typing import Any

import click

_PATIENCE = "1s"


def contexts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Context names."""
    from jsctl.errors import JsctlError

    env = ctx.obj
    try:
        return [name for name in env.contexts.names() if name.startswith(incomplete)]
    except (JsctlError, OSError, AttributeError):
        return []


def streams(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Stream names, asked of the server."""
    return _ask(ctx, "STREAM.NAMES", "streams", incomplete)


def consumers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names of the consumers of the stream that stands before on the line."""
    stream = ctx.params.get("stream")
    return _ask(ctx, f"CONSUMER.NAMES.{stream}", "consumers", incomplete) if stream else []


def _ask(ctx: click.Context, request: str, key: str, incomplete: str) -> list[str]:
    from jsctl.errors import JsctlError
    from jsctl.units import parse_duration

    env: Any = ctx.obj

    async def names() -> list[str]:
        api = await env.jetstream()
        found: list[str] = await api.pages(request, key)
        return found

    try:
        env.flags.setdefault("timeout", parse_duration(_PATIENCE))
        return sorted(name for name in env.run(names()) if name.startswith(incomplete))
    except (JsctlError, OSError, AttributeError):
        return []
