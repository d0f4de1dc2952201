"""The kinds of things that arguments and flags name ("server", "file"), for completion, if their
declaration has no completer. A command that runs does not need this table, and does not load it.
"""

import click

FILE, FOLDER = "file", "folder"

_BY_METAVAR = {
    "SERVER": "server",
    "PEER": "peer",
    "CLUSTER": "cluster",
    "SERVER|CLUSTER": "network node",
    "SERVER_ID": "server id",
    "HOST": "host",
    "GATEWAY": "cluster",
    "TAG": "server tag",
    "DOMAIN": "domain",
    "ACCOUNT": "account",
    "STREAM": "stream",
    "STREAM|PATTERN": "stream",
    "CONSUMER": "consumer",
    "BUCKET": "bucket",
    "SUBJECT": "subject",
    "FILTER": "subject",
    "ENDPOINT": "endpoint",
    "CODE": "check",
    "CONTEXT|DIR": "context",
    "OPERATOR": "operator",
    "PART|N": "part",
    "SOURCE": "template",
    "NAME|FILE": "topology",
    "TOPOLOGY": "topology",
    "[TOPOLOGY] [-- NATS-SERVER ARGUMENTS]": "topology",
    "FILE": FILE,
    "JWT": FILE,
    "PATH": FILE,
    "ARCHIVE": FILE,
    "KEY|FILE": FILE,
    "VERSION|PATH": FILE,
    "A.json": FILE,
    "B.json": FILE,
    "FILE|DIR": FILE,
    "DIR": FOLDER,
    "FOLDER": FOLDER,
    "DIRECTORY": FOLDER,
}
"""The kind for each metavar, the word that help shows for a value."""

OR_FILE = {"NAME|FILE", "CONTEXT|DIR", "SOURCE"}
"""Metavars of values that may also be a file."""

_BY_STORE_METAVAR = {
    "ACCOUNT": "store account",
    "ACCOUNT|KEY": "store account",
    "USER": "store user",
    "NAME|FILE": "store user",
    "NAME|KEY|*": "store user",
    "ROLE|KEY": "role",
    "TAG": "",
    "SUBJECT": "",
}
"""The kind for each metavar in the verbs of `jsctl auth`."""

_BY_PARAMETER = {
    "stream find --leader": "peer",
    "stream cluster step-down --preferred": "peer",
    "stream cluster balance --leader": "peer",
    "consumer find --leader": "peer",
    "consumer cluster step-down --preferred": "peer",
    "consumer cluster balance --leader": "peer",
    "consumer next --group": "group",
    "consumer unpin group": "group",
    "stream add --subjects": "",
    "stream copy --subjects": "",
    "backup restore stream file": FILE,
    "backup stream target": FILE,
    "backup account target": FOLDER,
    "backup edit target": FOLDER,
    "alert diff old": FILE,
    "alert diff new": FILE,
    "backup lookup keyfile": FILE,
    "service info id": "instance",
    "service stats id": "instance",
    "exporter --stream": "stream",
    "trace words": "subject",
    "object link links": "object bucket",
    "export kv --key": "key",
    "server check kv --key": "key",
    "server run --domain": "",
    "account report connections --username": "connection user",
    "server report connections --username": "connection user",
    "server request connections --filter-user": "connection user",
    "server request raft --group": "raft group",
    "server stream-check --raft-group": "raft group",
    "server consumer-check --raft-group": "raft group",
    "server network add cluster": "network cluster",
    "server network scale cluster": "network cluster",
    "server network link links": "network link",
    "server network topology name": "topology",
    "server generate target": FOLDER,
    "server request gateways gateway": "cluster",
    "server report gateways --filter-name": "cluster",
    "auth operator import key_files": FILE,
    "auth operator backup output": FILE,
    "auth operator restore input": FILE,
    "auth operator keys rm public": "operator key",
    "auth account query output": FILE,
    "auth account exports info subject": "export",
    "auth account exports edit subject": "export",
    "auth account exports rm subject": "export",
    "auth account imports info subject": "import",
    "auth account imports edit subject": "import",
    "auth account imports rm subject": "import",
    "auth account imports add subject": "export",
    "auth account activations add subject": "export",
    "auth account revocations add --export": "export",
    "auth account revocations rm --export": "export",
    "auth account mappings rm source": "mapping",
    "auth account mappings info source": "mapping",
    "auth account add --key": "operator key",
    "auth account edit --key": "operator key",
    "auth user edit --key": "role",
    "auth nkey show key_file": FILE,
    "auth nkey sign key_file": FILE,
    "auth nkey verify key_file": FILE,
    "auth nkey verify signature": FILE,
    "auth nkey seal key_file": FILE,
    "auth nkey unseal key_file": FILE,
}
"""The kind for single parameters, by verb and flag or argument; empty for a new name."""

_BY_FLAG = {"--cluster": "cluster", "--host NAME": "server", "--name NAME": "server"}
"""The kind for flags that mean the same in every verb; --name only in `server request`."""


def find_path(ctx: click.Context) -> str:
    """Return the path of a verb in the registry: "stream ls"."""
    parent = getattr(ctx.parent.command, "path", "") if ctx.parent else ""
    return f"{parent} {ctx.command.name}".strip()


def get_metavar(param: click.Parameter) -> str:
    """Return what help shows for a value, without the brackets: "STREAM"."""
    word = param.metavar or (str(param.name).upper() if isinstance(param, click.Argument) else "")
    return word.removesuffix("...").removeprefix("[").removesuffix("]") if word.count("[") < 2 else word


def find_value_kind(path: str, param: click.Parameter) -> str:
    """Return the kind of thing that a parameter of a verb names; empty for a new name, and for what cannot be
    listed."""
    if completes := getattr(param, "completes", ""):
        return str(completes)
    name = param.opts[0]
    other = _BY_PARAMETER.get(f"{path} {name}")
    if other is not None:
        return other
    word = get_metavar(param)
    if path.startswith("auth ") and word in _BY_STORE_METAVAR:
        return _BY_STORE_METAVAR[word]
    if name == "--name" and not path.startswith("server request "):
        return ""
    return _BY_FLAG.get(name) or _BY_FLAG.get(f"{name} {word}") or _BY_METAVAR.get(word, "")
