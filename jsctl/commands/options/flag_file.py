"""Flags of a command from a file: `--config` of what runs as a service."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from jsctl.base.files import read_text
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import option
from jsctl.commands.cli.declare import Decorator
from jsctl.commands.cli.global_flags import GlobalOption
from jsctl.commands.cli.values import name_kinds
from jsctl.contexts.settings import FLAGS, PATHS
from jsctl.env import Env
from jsctl.jetstream.config.documents import parse_document
from jsctl.jetstream.config.nodes import Node


def flag_file(help: str, paths: Collection[str]) -> Decorator:
    """Return the declaration of `--config FILE`: a YAML or JSON object whose keys are flags of the command,
    without their hyphens. A flag on the command line replaces its key.

    paths: flags that are paths, which are below the folder of the file. The command gets the global flags of
    the file as `config`, for `use_global_flags`.
    """

    def read(ctx: click.Context, param: click.Parameter, file: str) -> dict[str, Any]:
        return _read_flags(ctx, param, file, paths) if file and not ctx.resilient_parsing else {}

    return option("--config", metavar="FILE", default="", is_eager=True, callback=read, help=help)


def use_global_flags(env: Env, config: dict[str, Any]) -> None:
    """Use the global flags of a file that neither the command line nor the environment has."""
    for name, value in config.items():
        if name in env.flags:
            continue
        is_repeated = isinstance(value, tuple)
        env.flags[name] = value[-1] if is_repeated else value
        if is_repeated:
            env.repeated[name] = [*value]


def _read_flags(
    ctx: click.Context, config: click.Parameter, file: str, paths: Collection[str]
) -> dict[str, Any]:
    """Return the global flags of a file; those of the command become its defaults. Raises BadInput."""
    path = expand_home(file)
    params = {
        name.removeprefix("--"): param
        for param in ctx.command.params
        for name in param.opts
        if name.startswith("--") and param is not config and _is_known(param)
    }
    keys = parse_document(read_text(Path(path)), file).read_keys("the configuration", params)
    global_flags: dict[str, Any] = {}
    own_flags: dict[str, Any] = {}
    for key, node in keys.items():
        param = params[key]
        value = _convert(ctx, param, key, node)
        if (key in paths or param.name in PATHS) and value not in ("", "-"):
            value = str(path.parent / expand_home(value))
        (global_flags if isinstance(param, GlobalOption) else own_flags)[param.name or ""] = value
    ctx.default_map = own_flags
    return global_flags


def _is_known(param: click.Parameter) -> bool:
    """Return whether a file may have a flag: those of the command, and those for contexts and logins."""
    return not isinstance(param, GlobalOption) or param.name in ("context", "server", *FLAGS)


def _convert(ctx: click.Context, param: click.Parameter, key: str, node: Node) -> Any:
    """Return the value of a flag. Raises BadInput."""
    value: Any = None
    if getattr(param, "multiple", False) and isinstance(node.value, list):
        value = tuple(item.as_text(key) for item in node.value)
    else:
        text = node.as_text(key)
        value = (text,) if getattr(param, "multiple", False) else text
    try:
        return param.type_cast_value(ctx, value)
    except click.UsageError as error:
        raise node.error(f"{key}: {name_kinds(error.message)}") from None
