"""The common parts of every add: reading, saving and validating a configuration."""

import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from jsctl.base.command_lines import Suggestion
from jsctl.base.files import read_input, write_output
from jsctl.commands.cli import declare_all, option
from jsctl.commands.editing.editing import find_key_rule
from jsctl.commands.places.repeat import find_secret_variable
from jsctl.env import Env
from jsctl.errors import Cancelled, JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.schema import Schema
from jsctl.prompts.interview import Interview
from jsctl.prompts.prompter import Prompter
from jsctl.views.result import Result, Text

T = TypeVar("T")

add_flags = declare_all(
    option("--config", metavar="FILE", help="Configuration in JSON or YAML; flags replace its values"),
    option("--validate", is_flag=True, help="Only check the configuration"),
    option("--output", metavar="FILE", help="Write the configuration to FILE (-: stdout) and create nothing"),
    option("--defaults", is_flag=True, help="Take every default instead of asking"),
)
"""The flags that every add takes, for `AddOptions`."""


@dataclass(frozen=True, slots=True)
class AddOptions:
    """The flags that every add takes; part of a verb's options.

    config, output: paths, `-` for stdin and stdout; None if not given.
    """

    config: str | None
    validate: bool
    output: str | None
    defaults: bool

    @property
    def is_local(self) -> bool:
        """Whether nothing is created on a server."""
        return bool(self.validate or self.output)

    def asks(self, env: Env) -> bool:
        """Return whether to ask the user for what flags leave out."""
        return env.can_ask and not (self.defaults or self.config)

    def read_config(self, env: Env, schema: Schema) -> Json:
        """Return the configuration of --config; empty if there is none. Raises BadInput."""
        if not self.config:
            return {}
        text = read_input(self.config, env.streams.stdin)
        return schema.parse_config(text, self.config, unknown=find_key_rule(env))

    def save(self, config: Json, label: str, schema: Schema) -> Result:
        """Write a valid configuration to --output, as JSON with all keys and nothing else, or only report
        that it is valid. label: "stream ORDERS". Raises BadInput."""
        config = {**config, **{k: v for k, v in schema.always_written.items() if k not in config}}
        if self.validate or not self.output:
            return Result([Text(f"the configuration of {label} is valid")], data=config)
        text = json.dumps(config, indent=2, ensure_ascii=False)
        if self.output == "-":
            return Result([Text(text)], data=config)
        write_output(self.output, text + "\n")
        return Result([], data=config)


async def ask_all(
    env: Env,
    questions: Callable[[Prompter], Awaitable[T]],
    suggest: Callable[[T], Suggestion],
    begin: Callable[[], Awaitable[None]] | None = None,
) -> T:
    """Ask the questions of a questionnaire, with a way back, and return what it returns.

    If anything was asked, a command line that does the same is shown last, whatever happens then; after
    ctrl-C, one with the answers so far. begin: awaited before the first question. suggest: returns it.
    """
    if not env.can_ask:
        return await questions(env.prompter)
    interview = Interview(env.prompter, env.say, begin)

    def show(title: str, outcome: T) -> None:
        suggestion = suggest(outcome)
        secret = "" if suggestion.verb == "context add" else find_secret_variable(env)
        title += f", with the secret in {secret}" * bool(secret)
        env.closing_lines.append(f"\n{title}:\n  {suggestion.at()}")

    try:
        outcome = await interview.run(questions)
    except Cancelled:
        if interview.answers:
            with contextlib.suppress(JsctlError, ValueError):
                show("With the answers so far", await interview.complete(questions))
        raise
    if interview.has_asked:
        show("The same without questions", outcome)
    return outcome
