"""Flags of `jsctl server request` itself."""

from typing import Any

from jsctl.commands.cli import command
from jsctl.commands.server.request.flags import GROUP, group_flags
from jsctl.env import Env


@command("request", examples=["jsctl server request variables", "jsctl server request --name n1 connections"])
@group_flags
def request(env: Env, **flags: Any) -> None:
    """Ask each server for a JSON document. A login of the system account is needed."""
    env.flags[GROUP] = {key: value for key, value in flags.items() if value not in (None, ())}
