"""The questionnaires of `auth account add` and `auth user add`, for limits that no flag sets."""

from collections.abc import Callable
from dataclasses import replace

from jsctl.auth.fields import ACCOUNT, USER
from jsctl.auth.settings import AccountSettings, UserSettings
from jsctl.prompts.fields import ask_field
from jsctl.prompts.interview import Interview
from jsctl.prompts.prompter import Prompter

_LIMITS = ("connections", "subscriptions", "payload")
_UNLIMITED = "-1"
_STORAGE = ("js-disk", "js-memory")


async def ask_account(
    prompter: Prompter, say: Callable[[str], None], settings: AccountSettings
) -> AccountSettings:
    """Ask for the settings of a new account that no flag sets, and return all settings."""

    async def ask(interview: Prompter) -> AccountSettings:
        values = dict(settings.values)
        for flag in _LIMITS:
            if flag not in values:
                values[flag] = await ask_field(interview, ACCOUNT.by_flag[flag], default=_UNLIMITED)
        jetstream = settings.jetstream
        storage = any(flag in values for flag in _STORAGE) or bool(settings.tier)
        if jetstream is None and not storage:
            jetstream = await interview.confirm("Enable JetStream?", flag="--jetstream")
        if jetstream:
            for flag in _STORAGE:
                if flag not in values:
                    values[flag] = await ask_field(interview, ACCOUNT.by_flag[flag], default="1GB")
        return replace(settings, values=values, jetstream=jetstream or (None if storage else False))

    return await Interview(prompter, say).run(ask)


async def ask_user(prompter: Prompter, say: Callable[[str], None], settings: UserSettings) -> UserSettings:
    """Ask for the settings of a new user that no flag sets, and return all settings."""

    async def ask(interview: Prompter) -> UserSettings:
        values = dict(settings.values)
        for flag in ("payload", "subscriptions"):
            if flag not in values:
                values[flag] = await ask_field(interview, USER.by_flag[flag], default=_UNLIMITED)
        return replace(settings, values=values)

    return await Interview(prompter, say).run(ask)
