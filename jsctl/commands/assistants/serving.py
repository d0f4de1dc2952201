"""The server of `jsctl mcp`: tools that are verbs, over the SDK of the Model Context Protocol."""

import secrets as random
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, cast

import click
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from jsctl import __version__
from jsctl.base.command_lines import format_arguments
from jsctl.calls import Call
from jsctl.commands.assistants.answers import build_answer, collect_secrets, find_steps
from jsctl.commands.assistants.searching import search
from jsctl.commands.assistants.tools import FIRST, Verb, list_verbs
from jsctl.env import Env
from jsctl.errors import BadInput, CommandError, ExitStatus, JsctlError
from jsctl.jetstream.message.stdin import Stdin

FIND, CALL, PLAN, APPLY = "find_tools", "call_tool", "plan_change", "apply_plan"
_CALL_SECONDS = 60.0
_PLAN_SECONDS = 600.0
_FOUND = 8  #: tools that `find_tools` describes at once

_ABOUT = """\
Tools to look into NATS JetStream: streams, consumers, buckets, servers, and what is wrong with them. Begin
with doctor; consumer_why explains one consumer. find_tools finds more, call_tool calls them. Answers are
bounded: "N more" says that something was left out; ask for less then. """
_ABOUT_READING = "Nothing can be changed."
_ABOUT_CHANGES = "plan_change shows what a change would do, and gives a plan; apply_plan makes that change."
_PLAN_HELP = "Show what a tool that changes something would do, and get a plan for it; changes nothing"


class _Plan(NamedTuple):
    verb: Verb
    words: Sequence[str]
    outcome: Any
    until: float


class Assistant:
    """The tools of one session. contexts: those that a tool may choose from; empty for that of the line."""

    def __init__(self, env: Env, root: click.Group, contexts: Sequence[str], *, with_changes: bool) -> None:
        self._env = env
        self._contexts = contexts
        verbs = list_verbs(root)
        self._reading = {name: verb for name, verb in verbs.items() if verb.only_reads}
        changing = {name: verb for name, verb in verbs.items() if not verb.only_reads}
        self._changing = changing if with_changes else {}
        self._refused = frozenset(changing.keys() - self._changing.keys())
        shown = [verb for verb in [*self._reading.values(), *self._changing.values()] if verb.path in FIRST]
        self._first = sorted(shown, key=lambda verb: FIRST.index(verb.path))
        self._plans: dict[str, _Plan] = {}

    async def serve(self) -> None:
        """Serve the client on stdin and stdout until it closes them."""

        async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
            return types.ListToolsResult(tools=self.list_tools())

        async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
            text, is_error = await self.answer(params.name, params.arguments or {})
            return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)

        about = _ABOUT + (_ABOUT_CHANGES if self._changing else _ABOUT_READING)
        server: Server[Any] = Server(
            "jsctl", version=__version__, instructions=about, on_list_tools=list_tools, on_call_tool=call_tool
        )
        lines = cast("Any", _read_lines(self._env.streams.stdin))  # the SDK's own reader keeps ctrl-C waiting
        async with stdio_server(lines) as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())

    def list_tools(self) -> list[types.Tool]:
        """Return the tools that a client sees at first."""
        tools = [self._describe(verb) for verb in self._first]
        query = {"query": {"type": "string", "description": "Words, such as: stream gaps"}}
        name = {"name": {"type": "string", "description": "The name that find_tools says"}}
        arguments = {"arguments": {"type": "object", "description": "As its input_schema says"}}
        plan = {"plan": {"type": "string", "description": "That of plan_change"}}
        tools.append(_make_tool(FIND, "Find tools by words", query, reads=True))
        help = "Call a tool that find_tools has found"
        tools.append(_make_tool(CALL, help, {**name, **arguments}, reads=True))
        if self._changing:
            tools.append(_make_tool(PLAN, _PLAN_HELP, {**name, **arguments}, reads=True))
            help = "Make the change of a plan, if it would still do the same"
            tools.append(_make_tool(APPLY, help, plan, reads=False, destroys=True))
        return tools

    async def answer(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """Return the answer of a tool, and whether it is an error."""
        hidden = collect_secrets(self._env)
        try:
            return build_answer(await self._answer(name, arguments), hidden), False
        except CommandError as error:
            failure = {
                "error": error.message,
                "hint": error.hint,
                "status": int(error.status),
                "err_code": error.err_code,
            }
            return build_answer(failure, hidden), True
        except JsctlError as error:
            return build_answer({"error": error.message, "hint": error.hint}, hidden), True

    async def _answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
        if name == FIND:
            return self._find(str(arguments.get("query", "")))
        if name == PLAN:
            return await self._plan(*_read_call(arguments))
        if name == APPLY:
            return await self._apply(str(arguments.get("plan", "")))
        if name == CALL:
            name, arguments = _read_call(arguments)
        if name in self._changing:
            raise BadInput(f"{name} changes something", f"use {PLAN}, and then {APPLY}")
        self._check_is_offered(name)
        if name not in self._reading:
            raise BadInput(f"there is no tool {name!r}", f"{FIND} finds tools")
        verb = self._reading[name]
        return await self._run(verb, self._build_words(verb, arguments))

    def _check_is_offered(self, name: str) -> None:
        if name in self._refused:
            raise BadInput(
                f"{name} changes something", "only a person can permit that, with jsctl mcp --allow-changes"
            )

    def _find(self, query: str) -> Any:
        found = search({**self._reading, **self._changing}, query)
        shown = [
            {
                "name": verb.name,
                "description": verb.description,
                "call_with": CALL if verb.only_reads else PLAN,
                **({} if verb.only_reads else {"destroys": verb.destroys}),
                "input_schema": self._build_schema(verb),
            }
            for verb in found[:_FOUND]
        ]
        more = [verb.name for verb in found[_FOUND:]]
        rest = {"more": f"{len(more)} more", "names": more} if more else {}
        return {"tools": shown, **rest, **({"note": _ABOUT_READING} if self._refused else {})}

    async def _plan(self, name: str, arguments: Mapping[str, Any]) -> Any:
        self._check_is_offered(name)
        if name not in self._changing:
            raise BadInput(f"there is no tool {name!r} that changes something", f"{FIND} finds tools")
        verb = self._changing[name]
        return await self._make_plan(verb, self._build_words(verb, arguments))

    async def _make_plan(self, verb: Verb, words: Sequence[str]) -> Any:
        until = time.monotonic() + _PLAN_SECONDS
        token = random.token_urlsafe(12)
        plan = self._plans[token] = _Plan(verb, words, await self._try(verb, words), until)
        return {
            "line": format_arguments([*verb.path.split(), *words]),
            "destroys": verb.destroys or "--allow-data-loss" in words,
            "would": plan.outcome,
            "plan": token,
            "valid_seconds": int(_PLAN_SECONDS),
        }

    async def _try(self, verb: Verb, words: Sequence[str]) -> Any:
        """Return what a change would do."""
        if not verb.has_flag("dry_run"):
            return f"{verb.entry.help}. This verb has no dry run: nothing was tried."
        return await self._run(verb, ["--dry-run", *words])

    async def _apply(self, number: str) -> Any:
        plan = self._plans.pop(number, None)
        if plan is None or plan.until < time.monotonic():
            raise BadInput("there is no such plan any more", f"{PLAN} makes one; each is good for one change")
        if find_steps(await self._try(plan.verb, plan.words)) != find_steps(plan.outcome):
            again = await self._make_plan(plan.verb, plan.words)
            return {"changed": False, "reason": "it would do something else by now", "new_plan": again}
        yes = [f"--{name}" for name in ("force", "yes") if plan.verb.has_flag(name)][:1]
        answer = await self._run(plan.verb, [*yes, *plan.words], timeout=_PLAN_SECONDS)
        return {"changed": True, "answer": answer}

    def _build_words(self, verb: Verb, arguments: Mapping[str, Any]) -> list[str]:
        """Return the words of a call behind its verb, with the flag of its context."""
        rest = dict(arguments)
        flags = []
        if self._contexts:
            context = rest.pop("context", self._contexts[0])
            if context not in self._contexts:
                raise BadInput(f"context must be one of {', '.join(self._contexts)}")
            flags = ["--context", context]
        return [*flags, *verb.build_words(rest)]

    def _build_schema(self, verb: Verb) -> dict[str, Any]:
        schema = verb.build_schema()
        if self._contexts:
            schema["properties"]["context"] = {"type": "string", "enum": [*self._contexts]}
        return schema

    def _describe(self, verb: Verb) -> types.Tool:
        return types.Tool(
            name=verb.name,
            description=verb.description,
            input_schema=self._build_schema(verb),
            annotations=_annotate(verb.entry.help, reads=verb.only_reads, destroys=verb.destroys),
        )

    async def _run(self, verb: Verb, words: Sequence[str], timeout: float | None = None) -> Any:
        try:
            line = [*verb.path.split(), *words]
            limit = timeout or _CALL_SECONDS
            return await Call(self._env.run_line, line, timeout=limit, parent=self._env).run_async()
        except CommandError as error:
            if not error.data:
                raise
            if error.status == ExitStatus.DIFFERENT:  # what an edit would change, or a diff: no failure
                return error.data
            return {"exit_status": int(error.status), "message": error.message, "answer": error.data}


async def _read_lines(stdin: IO[Any]) -> AsyncIterator[str]:
    async for lines in Stdin(stdin).read_lines():
        for line in lines:
            yield line.decode(errors="replace")


def _make_tool(
    name: str, help: str, properties: Mapping[str, Any], *, reads: bool, destroys: bool = False
) -> types.Tool:
    required = [key for key in properties if key not in ("arguments", "query")]
    schema = {"type": "object", "properties": dict(properties), "required": required}
    annotations = _annotate(help, reads=reads, destroys=destroys)
    return types.Tool(name=name, description=help, input_schema=schema, annotations=annotations)


def _annotate(title: str, *, reads: bool, destroys: bool) -> types.ToolAnnotations:
    return types.ToolAnnotations(
        title=title, read_only_hint=reads, destructive_hint=destroys, open_world_hint=False
    )


def _read_call(arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the name and the arguments of the tool that a call is about. Raises BadInput."""
    name, inner = arguments.get("name"), arguments.get("arguments") or {}
    if not isinstance(name, str) or not isinstance(inner, dict):
        raise BadInput("a call has a name, a text, and arguments, an object")
    return name, inner
