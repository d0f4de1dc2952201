"""The questionnaire of `context add`: the server, the login, the JetStream domain."""

from collections.abc import Mapping
from typing import Any

from jsctl.contexts.layers import check_subject
from jsctl.contexts.settings import DEFAULT_URL, METHODS
from jsctl.contexts.store import is_name
from jsctl.errors import BadInput
from jsctl.nats.addresses import parse_addresses
from jsctl.prompts.prompter import Choice, Prompter, check_filled

Values = dict[str, Any]

_LOGINS = (
    Choice("None", ""),
    Choice("User and password", "user"),
    Choice("Token", "token"),
    Choice("Credentials file", "creds"),
    Choice("NKey seed file", "nkey"),
    Choice("User JWT and seed", "jwt"),
    Choice("Lookup with nsc", "nsc"),
)


def has_login(values: Mapping[str, Any]) -> bool:
    """Return whether settings contain a login, as fields or in the URL."""
    return any(values.get(name) for name in METHODS) or "@" in str(values.get("url", ""))


async def ask_name(prompter: Prompter, message: str = "Context name") -> str:
    """Ask for the name of a new context."""
    return await prompter.text(message, flag="NAME", check=_check_name, help="A name without slashes")


async def ask(prompter: Prompter, flags: Mapping[str, Any], present: Mapping[str, Any]) -> Values:
    """Ask for the settings that flags left out. Returns answers by Settings field, and `description`.

    flags: by Settings field. present: the values of the context, which are the defaults; an empty answer for
    a secret keeps its value.
    """
    answers: Values = {}
    if not flags.get("url"):
        answers["url"] = await prompter.text(
            "Server URLs",
            flag="--server",
            default=str(present.get("url") or DEFAULT_URL),
            check=_check_addresses,
            note="(separate several with commas)",
        )
    url = str(answers.get("url") or flags.get("url"))
    if not has_login(flags) and "@" not in url:
        answers.update(await _ask_login(prompter, present))
    if url.startswith("tls:") and "tlsca" not in flags:
        answers["tlsca"] = await prompter.text(
            "CA certificate file",
            flag="--tlsca",
            default=str(present.get("tlsca", "")),
            note="(empty for the system's certificates)",
        )
    if "js_domain" not in flags and "js_api_prefix" not in flags and not present.get("js_api_prefix"):
        answers["js_domain"] = await prompter.text(
            "JetStream domain",
            flag="--js-domain",
            default=str(present.get("js_domain", "")),
            check=_check_domain,
            note="(empty for the default domain)",
        )
    if "description" not in flags:
        answers["description"] = await prompter.text(
            "Description", flag="--description", default=str(present.get("description", ""))
        )
    return answers


async def _ask_login(prompter: Prompter, present: Mapping[str, Any]) -> Values:
    current = next((name for name in METHODS if present.get(name)), "")
    method = await prompter.select(
        "Login", _LOGINS, flag="--user", default=next(c.title for c in _LOGINS if c.value == current)
    )
    values: Values = {}
    if not method:
        # Clear the login of the context.
        return {setting: "" for settings in METHODS.values() for setting in settings if present.get(setting)}
    match method:
        case "user":
            values["user"] = await prompter.text(
                "Username", flag="--user", default=str(present.get("user", "")), check=check_filled
            )
            values["password"] = await prompter.secret("Password", flag="--password")
        case "token":
            values["token"] = await prompter.secret("Token", flag="--token")
        case "creds" | "nkey":
            title = "Credentials file" if method == "creds" else "NKey seed file"
            values[method] = await prompter.text(
                title, flag=f"--{method}", default=str(present.get(method, "")), check=check_filled
            )
        case "jwt":
            values["jwt"] = await prompter.secret("User JWT", flag="--jwt")
            values["seed"] = await prompter.secret("User seed", flag="--seed")
        case _:
            values["nsc"] = await prompter.text(
                "User in nsc",
                flag="--nsc",
                default=str(present.get("nsc", "")),
                check=check_filled,
                note="(nsc://operator/account/user)",
            )
    if method == current:
        return {name: value or present.get(name, "") for name, value in values.items()}
    return values


def _check_name(answer: str) -> None:
    if not is_name(answer):
        raise ValueError(f"{answer!r} is not a valid context name")


def _check_addresses(answer: str) -> None:
    try:
        parse_addresses(answer)
    except BadInput as error:
        raise ValueError(str(error)) from None


def _check_domain(answer: str) -> None:
    try:
        check_subject("the domain", answer)
    except BadInput as error:
        raise ValueError(str(error)) from None
