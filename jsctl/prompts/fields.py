"""Questions for the keys of a configuration, made from their fields."""

from typing import Any

from jsctl.jetstream.config.field import Field, FieldQuestion
from jsctl.jetstream.config.kinds import Switch
from jsctl.prompts.prompter import Check, Choice, Prompter, Verify


async def ask_field(
    prompter: Prompter,
    field: Field,
    *,
    default: str | None = None,
    check: Check | None = None,
    verify: Verify | None = None,
) -> Any:
    """Return the value of a choice or switch, or the text that was entered, which the field's kind parses.

    default, check: replace those of the field and its kind; default is the text or title of the answer.
    verify: a further check, by a request to a server.
    """
    question = field.question or FieldQuestion(field.label)
    flag, help = question.flag or f"--{field.flag}", question.help or field.help
    answer = _format_default(field, question) if default is None else default
    if isinstance(kind := field.kind, Switch):  # asked as info pages show it: may messages be deleted?
        yes = await prompter.confirm(question.message, flag=flag, default=kind.to_shown(False), help=help)
        return kind.to_shown(yes)
    if question.choices:
        choices = [Choice(title, value) for title, value in question.choices.items()]
        return await prompter.select(question.message, choices, flag=flag, default=answer, help=help)
    return await prompter.text(
        question.message,
        flag=flag,
        default=answer,
        check=check or field.kind.parse,
        verify=verify,
        help=help,
        note=question.note,
    )


def _format_default(field: Field, question: FieldQuestion) -> str:
    """Return the title of the field's default, or the text that its flag would have; empty for none."""
    titles = [title for title, value in question.choices.items() if value == field.default]
    texts = [] if field.default is None else field.kind.to_flag_texts(field.default)
    return [*titles, *texts, ""][0]
