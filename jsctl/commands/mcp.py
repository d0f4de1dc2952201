"""`jsctl mcp`."""

import click

from jsctl.base.command_lines import build_line
from jsctl.base.loops import enter_event_loop
from jsctl.base.standard_streams import has_file
from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.errors import BadInput, MissingDependency


@command("mcp", examples=["jsctl mcp", "jsctl mcp --context hub", "jsctl mcp --context hub --allow-changes"])
@option("--allow-changes", is_flag=True, help="Also offer verbs that change something, after a plan")
@click.pass_context
async def mcp(ctx: click.Context, env: Env, allow_changes: bool) -> None:
    """Speak the Model Context Protocol with the assistant that has started it, until it closes stdin.

    Its tools are verbs that only read, in the context of the command line; if --context is repeated, the
    assistant chooses one of these. No answer holds a secret. With --allow-changes, a change takes two calls:
    a plan, which is a dry run where the verb has one, and then its token.

    Needs pip install 'jsctl[mcp]'.
    """
    if env.is_embedded or not has_file(env.streams.stdin) or env.streams.stdin.isatty():
        manual = build_line("manual assistants")
        raise BadInput("no assistant has started it", f"name it in the settings of one, as {manual} shows")
    await enter_event_loop()
    try:
        from jsctl.commands.assistants.serving import Assistant
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise MissingDependency("the SDK of MCP is not installed", "pip install 'jsctl[mcp]'") from None
    contexts = list(dict.fromkeys(env.repeated.get("context", ())))
    for name in contexts:
        env.contexts.find(name)
    root = ctx.find_root().command
    if isinstance(root, click.Group):
        choices = contexts if len(contexts) > 1 else []
        await Assistant(env, root, choices, with_changes=allow_changes).serve()
