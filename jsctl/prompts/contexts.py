"""The questionnaire of `context add`: where the server is, how to log in, which JetStream."""

from collections.abc import Mapping
from typing import Any

from jsctl.contexts.model import DEFAULT_URL
from jsctl.contexts.settings import METHODS, check_subject
from jsctl.errors import BadInput
from jsctl.nats.addresses import parse_addresses
from jsctl.prompts.prompter import Choice, Prompter

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


def has_login(given: Mapping[str, Any]) -> bool:
    """Whether the flags say how to log in, or that the URL does."""
    return any(given.get(name) for name in METHODS) or "@" in str(given.get("url", ""))


async def ask(prompter: Prompter, given: Mapping[str, Any], present: Mapping[str, Any]) -> Values:
    """Values by Settings field, and `description`, for what `given` (the flags) left out.

    present: what the context has already, offered as defaults. A secret that is left empty stays.
    """
    answers: Values = {}
    if not given.get("url"):
        answers["url"] = await prompter.text(
            "Server URLs",
            flag="--server",
            default=str(present.get("url") or DEFAULT_URL),
            check=_address,
            help="(several with commas)",
        )
    url = str(answers.get("url") or given.get("url"))
    if not has_login(given) and "@" not in url:
        answers.update(await _login(prompter, present))
    if url.startswith("tls:") and "tlsca" not in given:
        answers["tlsca"] = await prompter.text(
            "CA certificate file",
            flag="--tlsca",
            default=str(present.get("tlsca", "")),
            help="(empty for the system's)",
        )
    if "js_domain" not in given and "js_api_prefix" not in given and not present.get("js_api_prefix"):
        answers["js_domain"] = await prompter.text(
            "JetStream domain",
            flag="--js-domain",
            default=str(present.get("js_domain", "")),
            check=_subject,
            help="(empty for the server's own)",
        )
    if "description" not in given:
        answers["description"] = await prompter.text(
            "Description", flag="--description", default=str(present.get("description", ""))
        )
    return answers


async def _login(prompter: Prompter, present: Mapping[str, Any]) -> Values:
    has = next((name for name in METHODS if present.get(name)), "")
    method = await prompter.select(
        "Login", _LOGINS, flag="--user", default=next(c.title for c in _LOGINS if c.value == has)
    )
    values: Values = {}
    if not method:
        # What was there goes, since none was asked for.
        return {setting: "" for settings in METHODS.values() for setting in settings if present.get(setting)}
    match method:
        case "user":
            values["user"] = await prompter.text(
                "Username", flag="--user", default=str(present.get("user", "")), check=_needed
            )
            values["password"] = await prompter.secret("Password", flag="--password")
        case "token":
            values["token"] = await prompter.secret("Token", flag="--token")
        case "creds" | "nkey":
            title = "Credentials file" if method == "creds" else "NKey seed file"
            values[method] = await prompter.text(
                title, flag=f"--{method}", default=str(present.get(method, "")), check=_needed
            )
        case "jwt":
            values["jwt"] = await prompter.secret("User JWT", flag="--jwt")
            values["seed"] = await prompter.secret("User seed", flag="--seed")
        case _:
            values["nsc"] = await prompter.text(
                "User in nsc",
                flag="--nsc",
                default=str(present.get("nsc", "")),
                check=_needed,
                help="(nsc://operator/account/user)",
            )
    if method == has:
        return {name: value or present.get(name, "") for name, value in values.items()}
    return values


def _needed(answer: str) -> None:
    if not answer.strip():
        raise ValueError("an answer is needed")


def _address(answer: str) -> None:
    try:
        parse_addresses(answer)
    except BadInput as error:
        raise ValueError(str(error)) from None


def _subject(answer: str) -> None:
    try:
        check_subject("the domain", answer)
    except BadInput as error:
        raise ValueError(str(error)) from None
