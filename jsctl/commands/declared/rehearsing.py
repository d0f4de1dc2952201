"""What `jsctl rehearse` does on its copy: it fills it, applies files, and looks at what it has."""

import contextlib
import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from jsctl.calls import Call
from jsctl.commands.declared.sources import SourceOptions
from jsctl.env import Env
from jsctl.errors import BadInput, CommandError, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import fetch_account_info
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.declared import write
from jsctl.jetstream.declared.collect import collect_declarations
from jsctl.jetstream.declared.load import load
from jsctl.jetstream.declared.variables import parse_variables
from jsctl.jetstream.state import is_silent
from jsctl.jetstream.stream import requests as streams
from jsctl.localserver.originals import (
    MOST_SERVERS,
    Original,
    describe_account,
    describe_archive,
    scale_text,
)
from jsctl.localserver.rehearsal import Rehearsal, copy_messages
from jsctl.monitor.account import fetch_login
from jsctl.monitor.audit.archive import Archive
from jsctl.views.rehearsal import CopyState

_ONCE_CURRENT = ("--wait", "1m")  #: until replicas and mirrors have what they are to have


@dataclass(slots=True)
class Source:
    """Where messages come from. count: newest ones of each stream. scale: the part of them, instead. sample:
    files of `sub --dump`. api, infos: of the account; None if it is not asked."""

    count: int
    scale: float | None
    sample: Sequence[str]
    api: Api | None = None
    infos: dict[str, Json] = field(default_factory=dict)

    def count_messages(self, info: Json) -> int:
        """Return how many messages of a stream are to be copied."""
        held = int(info["state"]["messages"])
        return math.ceil(held * self.scale) if self.scale else min(self.count, held)


async def read_account(env: Env, source: Source, context: str, servers: int | None, scale: float) -> Original:
    """Return the account of the login. Raises what requests raise."""
    source.api = api = await env.jetstream()
    account = await fetch_account_info(api)
    collected = await collect_declarations(api, (), {}, with_internal=True, infos=source.infos)
    replicas = [int(info["config"].get("num_replicas") or 1) for info in source.infos.values()]
    document = {"streams": collected.streams, **collected.buckets}
    count = servers or min(MOST_SERVERS, max(replicas, default=1))
    permissions = (await fetch_login(api.connection)).get("permissions") or {}
    permissions = permissions if any(permissions.values()) else None
    settings = env.settings()
    # Behind a prefix, subjects of permissions are not those of the copy.
    is_same = not settings.js_api_prefix
    original = describe_account(account, context, count, document, scale, permissions if is_same else None)
    original.left_out[:0] = [f"{name} did not answer" for name in collected.missing_streams]
    if permissions and not is_same:
        original.left_out.append("permissions of the user, which are about a prefix")
    if original.login:
        own = {"inbox_prefix": settings.inbox_prefix, "jetstream_domain": settings.js_domain}
        original = original._replace(login={**original.login, **{key: own[key] for key in own if own[key]}})
    return original._replace(version=str(api.connection.server_info.get("version") or ""))


def read_archive(env: Env, path: str, streams_file: str, scale: float) -> Original:
    """Return the network of an archive. streams_file: of export config, for the streams of its context; empty
    for those of the archive. Raises BadInput."""
    with Archive(path) as archive:
        original = describe_archive(archive, str(env.flags.get("context") or ""), scale)
    if streams_file:
        text = scale_text(_read_streams(env, streams_file), scale)
        return original._replace(documents={**original.documents, original.context: text})
    return original


def _read_streams(env: Env, path: str) -> str:
    """Return a file for apply without the context that it names: the copy has others. Raises BadInput."""
    import yaml

    texts = SourceOptions((path,)).read(env).texts
    declared = load(texts, parse_variables(()))
    if len(contexts := declared.contexts - {""}) > 1:
        raise BadInput(
            f"{path} is about contexts {', '.join(sorted(contexts))}", "export one of them, or domains of one"
        )
    document = {key: value for key, value in yaml.safe_load(texts[0][1]).items() if key != "context"}
    for items in document.values():
        for item in items if isinstance(items, list) else ():
            item.pop("context", None)
    return json.dumps(document, default=str)


class _Outcome(NamedTuple):
    """What came of a command line: its document, and its error, empty if there is none."""

    document: Any
    error: str = ""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy that runs."""

    env: Env
    rehearsal: Rehearsal

    async def fill(self, source: Source) -> None:
        """Make the streams, and publish messages. Note what they lack. Raises JsctlError."""
        original = self.rehearsal.original
        file = self.rehearsal.network.folder / "copy.yaml"
        # Streams may copy those of a context that comes later.
        rounds = [(), _ONCE_CURRENT] if len(original.documents) > 1 else [_ONCE_CURRENT]
        for waiting, (context, document) in itertools.product(rounds, original.documents.items()):
            text = document if isinstance(document, str) else "".join(write.render_yaml(document))
            file.write_text(text, encoding="utf-8")
            flags = ["-f", str(file), "--yes", *waiting, "--context", context]
            if error := (await self._run("apply", *flags)).error:
                raise JsctlError(
                    f"the copy cannot be made: {error}", "jsctl export config shows what is copied"
                )
        for path in source.sample:
            flags = ["--from-dump", str(Path(path).absolute()), "--jetstream", "--context", original.context]
            if error := (await self._run("publish", *flags)).error:
                raise JsctlError(f"the sample cannot be published: {error}")
        if source.api is None:
            return
        async with self.rehearsal.open_api(original.context) as target:
            for name, info in source.infos.items():
                if info["config"].get("mirror") or not (count := source.count_messages(info)):
                    continue
                if reason := await copy_messages(source.api, target, info, count):
                    original.left_out.append(f"messages of {name}: {reason}")

    async def apply(self, files: Sequence[str], flags: Sequence[str], scale: float | None) -> str:
        """Apply files. scale: of their limits. Return why that failed; empty if it did not.

        Raises BadInput."""
        paths = [str(Path(file).absolute()) for file in files]
        if scale:
            texts = SourceOptions(tuple(files)).read(self.env).texts
            paths = []
            for number, (name, text) in enumerate(texts):
                path = self.rehearsal.network.folder / f"{number}-{Path(name).name}"
                path.write_text(scale_text(text, scale), encoding="utf-8")
                paths.append(str(path))
        words = [word for path in paths for word in ("-f", path)]
        words += [*flags, "--yes", "--allow-data-loss", *_ONCE_CURRENT]
        with self.rehearsal.use_login():
            return (await self._run("apply", *words, "--context", self.rehearsal.original.context)).error

    async def fetch_state(self, *, with_subjects: bool = False) -> CopyState:
        """Return what the copy has. Streams that do not answer are missing."""
        contexts = [*self.rehearsal.contexts, self.rehearsal.original.system]
        found = await self._run("doctor", *(word for name in contexts for word in ("--context", name)))
        state = CopyState({}, {}, {}, (found.document or {}).get("findings", []))
        seen: set[tuple[str, str, str]] = set()
        for context in self.rehearsal.contexts:
            prefix = f"{context} > " if len(self.rehearsal.contexts) > 1 else ""
            with contextlib.suppress(JsctlError):
                async with self.rehearsal.open_api(context) as api:
                    state.version = str(api.connection.server_info.get("version"))
                    infos = (await streams.collect(api, lambda info: None if is_silent(info) else info)).items
                    # Gateways join the JetStream of clusters: what one context has shown, others show again.
                    user = self.rehearsal.original.network["contexts"][context]["user"]
                    made = {name: (user, name, str(info["created"])) for name, info in infos.items()}
                    infos = {name: info for name, info in infos.items() if made[name] not in seen}
                    seen |= {*made.values()}
                    listings = await consumers.list_consumers_of_streams(api, sorted(infos))
                    for name, info in infos.items() if with_subjects else ():
                        if info["config"].get("subjects") and info["state"]["messages"]:
                            state.subjects[prefix + name] = {*await streams.count_subjects(api, name)}
                for name, info in infos.items():
                    state.configs[prefix + name] = info["config"]
                    state.streams[prefix + name] = int(info["state"]["messages"])
                for each in listings:
                    names = {*each.missing, *(str(info["name"]) for info in each.infos)}
                    state.consumers[prefix + each.stream] = names
        return state

    async def _run(self, *words: str) -> _Outcome:
        """Run a command line on the copy."""
        try:
            call = Call(self.env.run_line, words, environ=self.rehearsal.environ)
            return _Outcome(await call.run_async())
        except CommandError as error:
            return _Outcome(error.data, str(error))
