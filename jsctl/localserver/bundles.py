"""Bundles of templates, as `nats server generate --source` takes them: a folder, a ZIP file or its address.

bundle.yaml    description, requires.operator, post_scaffold
form.yaml      the questions: name, description, type, default and conditional of each property
scaffold/      the files, as Go templates; _partials/ holds templates that others render
"""

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from jsctl.base.files import CONFIG_SIZE, read_bytes
from jsctl.base.user_folders import expand_home
from jsctl.base.zip_files import open_zip, read_entry
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.config.documents import parse_documents
from jsctl.localserver.go_template import TemplateError, render
from jsctl.localserver.templates import Answers, Operator, Question, Template

_PARTIALS = "_partials/"
_CONDITION = re.compile(r"\s*input\.([\w.]+)\s*(?:==\s*true\s*)?")
_SECONDS = 30


def load_bundle(source: str) -> Template:
    """Return the template in a folder, a ZIP file or at an address of one. Raises BadInput, JsctlError."""
    files = _read(source)
    if "bundle.yaml" not in files:
        raise BadInput(
            f"{source} contains no bundle.yaml", "name a folder or ZIP file with one, or a template"
        )
    manifest = _parse_yaml(source, files, "bundle.yaml")
    description = str(manifest.get("description") or "").strip()
    if not description:
        raise BadInput(f"bundle.yaml of {source} has no description", "add one")
    folder = "scaffold"
    if "scaffold.json" in files:
        folder = str(_parse_yaml(source, files, "scaffold.json").get("source_directory") or folder)
    templates = {
        name.removeprefix(f"{folder}/"): _decode_text(source, name, data)
        for name, data in files.items()
        if name.startswith(f"{folder}/")
    }
    if not templates:
        raise BadInput(f"{source} has no files in {folder}", "put the templates there")
    form = _parse_yaml(source, files, "form.yaml") if "form.yaml" in files else {}
    closing_text = str(manifest.get("post_scaffold") or "")
    requires = manifest.get("requires") or {}

    def make_files(answers: Answers, operator: Operator | None) -> Mapping[str, str]:
        return _render_files(source, templates, _build_data(answers, operator))

    def render_message(answers: Answers, operator: Operator | None) -> str:
        return _render(f"post_scaffold of {source}", closing_text, _build_data(answers, operator), {}).strip()

    name = PurePosixPath(source.rstrip("/")).stem
    questions = list(_list_questions(source, form.get("properties") or []))
    keys = [question.key for question in questions]
    if unknown := [question.when for question in questions if question.when and question.when not in keys]:
        raise BadInput(f"form.yaml of {source} has no {unknown[0]}, on which others depend", "add it")
    needs_operator = bool(isinstance(requires, Mapping) and requires.get("operator"))
    return Template(name, description, questions, make_files, needs_operator, message=render_message)


def is_bundle(source: str) -> bool:
    """Return whether a source is a bundle, instead of the name of a template."""
    return "://" in source or "/" in source or source.endswith(".zip") or expand_home(source).is_dir()


# -- reading -----------------------------------------------------------------------------------------------


def _read(source: str) -> dict[str, bytes]:
    if "://" in source:
        return _unzip(source, _download(source))
    path = expand_home(source)
    if path.is_dir():
        return dict(_walk(path))
    return _unzip(source, read_bytes(path, "", CONFIG_SIZE))


def _walk(folder: Path) -> Iterator[tuple[str, bytes]]:
    size = 0
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = read_bytes(path, "", CONFIG_SIZE, regular=True)
            size += len(data)
            if size > CONFIG_SIZE:
                raise BadInput(f"{folder} is larger than 16 MiB", "name the folder of one bundle")
            yield path.relative_to(folder).as_posix(), data


def _download(address: str) -> bytes:
    import urllib.error
    import urllib.request

    if not address.startswith(("http://", "https://")):
        raise BadInput(
            f"{address} is not an address of a bundle", "use http:// or https://, a file or a folder"
        )
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
            data: bytes = answer.read(CONFIG_SIZE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise JsctlError(f"cannot fetch {address}: {reason}") from None
    if len(data) > CONFIG_SIZE:
        raise BadInput(f"{address} is larger than 16 MiB", "check that it is a bundle")
    return data


def _unzip(source: str, data: bytes) -> dict[str, bytes]:
    """Return the files of an archive, or those in its folder if it holds just one."""
    files: dict[str, bytes] = {}
    size = 0
    try:
        with open_zip(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    content = files[entry.filename] = read_entry(archive, entry.filename, CONFIG_SIZE)
                    size += len(content)
                    if size > CONFIG_SIZE:
                        raise BadInput(
                            f"{source} is larger than 16 MiB when unpacked", "check that it is a bundle"
                        )
    except ValueError as error:
        raise BadInput(f"cannot unpack {source}: {error}", "use a folder or a ZIP file") from None
    tops = {name.partition("/")[0] for name in files}
    if len(tops) == 1 and "bundle.yaml" not in files:
        return {name.partition("/")[2]: data for name, data in files.items()}
    return files


def _decode_text(source: str, name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadInput(f"{name} of {source} is not text", "templates are UTF-8") from None


def _parse_yaml(source: str, files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """Return the object in a file; empty for an empty file. Raises BadInput."""
    path = f"{source.rstrip('/')}/{name}"
    documents = list(parse_documents(_decode_text(source, name, files[name]), path))
    if not documents:
        return {}
    documents[0].as_object(name)
    document: dict[str, Any] = documents[0].to_json()
    return document


# -- questions ---------------------------------------------------------------------------------------------

_KINDS = {"bool": "bool", "integer": "number"}


def _list_questions(
    source: str, properties: Any, prefix: str = "", condition: str = ""
) -> Iterator[Question]:
    """Yield the questions of a form and of its groups, whose keys begin with the group's key."""
    if not isinstance(properties, list):
        raise BadInput(f"form.yaml of {source} is not valid", "properties are a list")
    for prop in properties:
        if not isinstance(prop, dict) or not prop.get("name"):
            raise BadInput(f"form.yaml of {source} is not valid", "each property has a name")
        key, own_condition = f"{prefix}{prop['name']}", condition
        if text := prop.get("conditional"):
            match = _CONDITION.fullmatch(str(text))
            if match is None:
                raise BadInput(
                    f"form.yaml of {source}: condition {text!r} is not known", "write input.KEY == true"
                )
            own_condition = match[1]
        if prop.get("properties"):
            yield from _list_questions(source, prop["properties"], f"{key}.", own_condition)
            continue
        default = prop.get("default")
        default_text = ("yes" if default else "no") if isinstance(default, bool) else str(default or "")
        message = str(prop.get("description") or key).strip().split("\n")[0]
        kind = _KINDS.get(str(prop.get("type") or ""), "text" if prop.get("required") else "any")
        yield Question(key, message, default_text, kind, own_condition)  # type: ignore[arg-type]


def _build_data(answers: Answers, operator: Operator | None) -> dict[str, Any]:
    """Return the data of templates: answers, with groups as objects, and the operator."""
    data: dict[str, Any] = {}
    for key, value in answers.items():
        *groups, last = key.split(".")
        target = data
        for group in groups:
            target = target.setdefault(group, {})
        target[last] = value
    if operator is not None:
        system = {"Name": operator.system_key, "Subject": operator.system_key, "JWT": operator.system}
        own = {"Name": operator.name, "JWT": operator.token, "SystemAccount": system}
        data["Requirements"] = {"Operator": own}
    return data


# -- files -------------------------------------------------------------------------------------------------


def _render_files(source: str, templates: Mapping[str, str], data: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the rendered files by path, without empty ones."""
    files: dict[str, str] = {}

    def render_other(name: str, data: Any) -> str:
        if name not in templates:
            raise TemplateError(f"there is no template {name}")
        return render(templates[name], data, functions)

    def write(name: str, text: str) -> str:
        files[name] = text
        return ""

    functions = {"render": render_other, "write": write}
    for name, template in templates.items():
        if not name.startswith(_PARTIALS):
            text = _render(f"{name} of {source}", template, data, functions)
            if text.strip():
                files[name] = text
    for name in files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
            raise BadInput(f"{source} writes to {name}", "its files must be in the target folder")
    return files


def _render(description: str, template: str, data: Any, functions: Mapping[str, Any]) -> str:
    try:
        return render(template, data, functions)
    except TemplateError as error:
        raise BadInput(f"{description}: {error}") from None
    except RecursionError:
        raise BadInput(f"{description}: templates render each other endlessly") from None
