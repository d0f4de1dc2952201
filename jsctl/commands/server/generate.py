"""`jsctl server generate`."""

import asyncio
import shlex
from collections.abc import Mapping, Sequence

from jsctl.base.files import naming_write_errors, write_atomically
from jsctl.base.posix import make_private_folder
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.localserver.templates import Operator, Template
from jsctl.views.result import Field, InfoPage, Result, Section, Text


def _show_generated(template: Template, target: str, files: Sequence[str], message: str) -> Result:
    """Show the files, and what to do with them. message: of the template."""
    fields = [Field("Folder", target), Field("Files", list(files))]
    if template.next_steps:
        fields.append(Field("Next", f"cd {shlex.quote(target)} && {template.next_steps}"))
    document = {"template": template.name, "target": target, "files": list(files)}
    info_page = InfoPage(f"Generated: {template.about}", [Section("", fields)])
    return Result([info_page, *([Text(message, whole=True)] if message else [])], data=document)


@command(
    "generate",
    examples=[
        "jsctl server generate ./server",
        "jsctl server generate ./leaf --source leaf --set credentials=/etc/nats/leaf.creds --defaults",
        "jsctl server generate ./clusters --source compose --set clusters=1",
        "jsctl server generate ./site --source ./bundle --defaults",
    ],
)
@argument("target")
@option(
    "--source",
    metavar="SOURCE",
    default="",
    help="operator, leaf, compose or kubernetes; or a bundle: a folder, a ZIP file or its URL",
)
@option(
    "--set", "values", metavar="KEY=VALUE", multiple=True, help="A value of the template; may be repeated"
)
@option("--operator", metavar="OPERATOR", default="", help="The operator, if there are several")
@option("--defaults", is_flag=True, help="Use the defaults without asking")
async def generate(
    env: Env, target: str, source: str, values: tuple[str, ...], operator: str, defaults: bool
) -> Result:
    """Write files into the folder TARGET, which must not exist: a server of an operator, a leaf node,
    clusters for Docker Compose, or values for the Helm chart. jsctl asks for what --set leaves out; with
    --defaults, or without a terminal, it takes the defaults.

    A bundle is what the nats tool takes: bundle.yaml, form.yaml with the questions, and the folder scaffold
    with Go templates.
    """
    from jsctl.localserver.templates import parse_answers

    folder = expand_home(target)
    if folder.exists():
        raise BadInput(f"{folder} already exists", "name a new folder")
    template = await _choose_template(env, source)
    given = _parse_values(values)
    owner = await _load_operator(env, operator) if template.needs_operator else None
    if env.can_ask and not defaults:
        await _ask(env, template, given)
    answers = parse_answers(template, given) | {"_target": str(folder), "_source": source}
    files = template.make(answers, owner)
    with naming_write_errors():
        for name, text in files.items():
            path = folder / name
            make_private_folder(path.parent)
            write_atomically(path, text)
    message = template.message(answers, owner) if template.message else ""
    return _show_generated(template, str(folder), sorted(files), message)


async def _choose_template(env: Env, name: str) -> "Template":
    from jsctl.localserver.templates import TEMPLATES

    names = [template.name for template in TEMPLATES]
    if not name:
        if not env.can_ask:
            raise BadInput("the template is missing", f"specify --source, one of {', '.join(names)}")
        from jsctl.prompts.prompter import Choice

        choices = [Choice(f"{candidate.name}: {candidate.about}", candidate.name) for candidate in TEMPLATES]
        name = await env.prompter.select("Select a Template", choices, flag="--source")
    for template in TEMPLATES:
        if template.name == name:
            return template
    from jsctl.localserver.bundles import is_bundle, load_bundle

    if is_bundle(name):
        return await asyncio.to_thread(load_bundle, name)
    raise BadInput(
        f"there is no template {name!r}",
        f"the templates are {', '.join(names)}; or name a folder or ZIP file",
    )


def _parse_values(pairs: tuple[str, ...]) -> dict[str, str]:
    values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadInput(f"--set {pair!r} is not valid", "write KEY=VALUE")
        values[key] = value
    return values


async def _ask(env: Env, template: "Template", values: dict[str, str]) -> None:
    """Ask for the values that are missing."""
    for question in template.questions:
        if question.key in values:
            continue
        if question.when and not _is_on(template, values, question.when):
            continue
        flag = f"--set {question.key}=VALUE"
        if question.kind == "bool":
            yes = await env.prompter.confirm(
                f"{question.message}?", flag=flag, default=bool(question.parse(question.default))
            )
            values[question.key] = "yes" if yes else "no"
        else:
            values[question.key] = await env.prompter.text(
                question.message, flag=flag, default=question.default, check=question.parse
            )


def _is_on(template: "Template", values: Mapping[str, str], key: str) -> bool:
    question = next(candidate for candidate in template.questions if candidate.key == key)
    return bool(question.parse(values.get(key, question.default)))


async def _load_operator(env: Env, name: str) -> "Operator":
    """Return an operator of the store that nsc shares, with its system account. Raises NotFound, BadInput."""
    from jsctl.commands.picking.auth import pick_operator
    from jsctl.localserver.templates import Operator

    store = await pick_operator(env, name)
    record = store.read_operator()
    if not record.system_account:
        raise BadInput(f"operator {record.name} has no system account", "servers need one for the resolver")
    account = store.find_account(record.system_account)
    return Operator(record.name, record.token, record.system_account, account.token)
