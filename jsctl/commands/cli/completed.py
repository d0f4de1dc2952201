"""Parameters whose values complete in a shell."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Completed(click.Parameter):
    """A parameter whose values complete: by its own completer, by its choices, or to names.

    completes: the kind of names that its value completes to, a noun of the registry or one of
    commands/completing; empty where the parameter's place and metavar tell.
    """

    def __init__(
        self,
        *args: Any,
        completes: str = "",
        **attrs: Any,
    ) -> None:
        super().__init__(*args, **attrs)
        self.completes = completes
        self._has_completer = "shell_complete" in attrs

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Return the completions of a value."""
        if self._has_completer or isinstance(self.type, click.Choice):
            return super().shell_complete(ctx, incomplete)
        root: Any = ctx.find_root().command
        completions: list[CompletionItem] = root.complete_value(ctx, self, incomplete)
        return completions
