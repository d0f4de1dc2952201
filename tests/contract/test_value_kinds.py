"""What arguments and flags name completes, of every verb of the registry."""

from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from jsctl.app import root
from jsctl.base.standard_streams import Streams
from jsctl.commands.cli.global_flags import GlobalOption
from jsctl.commands.cli.verbs import RowFlag
from jsctl.commands.completing.listers import LOCAL_LISTERS, SERVER_LISTERS
from jsctl.commands.completing.shells import VARIABLE
from jsctl.commands.completing.value_kinds import FILE, FOLDER, find_value_kind, get_metavar
from jsctl.contexts.settings import FLAGS
from jsctl.env import Env
from jsctl.registry.top import NOUNS
from tests.contract.test_commands import VERBS, resolve
from tests.support import js
from tests.support.operator_site import Site
from tests.support.run import Cli, _Stream
from tests.support.servers import Account, Cluster

VALUES = {
    *("ADDRESS", "API", "AS", "BODY", "BYTES", "CHARACTER", "CID", "CIDR", "CLIENT", "COMMAND"),
    *("COUNT", "CRON", "DATE", "DAYS,WEEKS", "DDL", "DURATION", "DURATION|TIME", "EXPECT", "EXPRESSION"),
    *("FROM=TO", "HOST:PORT", "INTERVAL", "ITERATIONS", "K:V", "KEY=VALUE", "LEVEL", "LIMIT"),
    *("MATCH", "MAX", "MESSAGES", "N", "NAME:REGEX", "NAME:VALUE", "NAME=VALUE", "NUMBER", "OLDER"),
    *("OPERATIONS", "PACKAGES", "PASSWORD", "PATTERN", "PAYLOAD", "PERCENT", "PREFIX", "PROXY", "REGEX"),
    *("REVISION", "ROWS", "SECONDS", "SEED", "SENDER", "RECIPIENT", "SEQ", "SEQUENCE", "SIZE"),
    *("SQL", "START-END", "SUBJECTS", "TARGET", "TEXT", "TIME", "T1 T2", "TIME|DURATION", "TOKEN", "UNTIL"),
    "VERSION",
    *("URL", "VALUE", "WAIT", "WEIGHT", "WORDS", "ZONE"),
}
"""Words of what is typed: nobody has a list of it."""

KEYWORDS = {
    *("FIELD", "FORMAT", "KIND", "MODE", "POLICY", "REASON", "SCHEME", "SORT", "TIER", "WHAT"),
    *("eof|newline", "up|down|delay|limit|drop"),
}
"""Words of what the help lists."""

NEW = {
    *("NAME", "ROLE", "DEST", "DESTINATION"),
    *(f"{verb} --subjects" for verb in ("stream add", "stream copy")),
    *(
        f"consumer {verb} --{kind}-groups"
        for verb in ("add", "copy")
        for kind in ("pinned", "overflow", "prioritized")
    ),
    *(f"consumer pcgroup {verb}" for verb in ("create new_group", "create members", "add members")),
    "consumer pcgroup create-mapping mappings",
    *(
        "manual --search",
        "subscribe --queue",
        "reply --queue",
        "auth why --queue",
        "consumer sub --deliver-group",
        "server run --domain",
    ),
}
"""Words, and single parameters, whose names are new, or are those of clients and of the server's inside."""

ELSEWHERE = {
    *("auth account callout --xkey", "export compact tables"),
    *("auth account keys add --public-key", "auth user add --public-key"),
}
"""Parameters whose names nobody lists: keys that others keep."""


def listed(path: str, param: click.Parameter) -> bool:
    """Whether something is proposed for a parameter."""
    if isinstance(param.type, click.Choice) or param._custom_shell_complete is not None:
        return True
    thing = find_value_kind(path, param)
    assert not thing or thing in {FILE, FOLDER, "subject", *NOUNS, *LOCAL_LISTERS, *SERVER_LISTERS}, (
        path,
        thing,
    )
    return bool(thing)


def test_what_can_be_listed_completes() -> None:
    missing = []
    for path in VERBS:
        for param in resolve(path.split()).params:
            if isinstance(param, RowFlag) or (
                isinstance(param, click.Option) and (param.is_flag or param.count)
            ):
                continue
            if isinstance(param, GlobalOption) and param.name in FLAGS:
                continue  # settings are of servers and logins that may be anywhere
            word, name = get_metavar(param), param.opts[0]
            is_value = word in VALUES | KEYWORDS | NEW or not isinstance(
                param.type, click.types.StringParamType
            )
            of_store = path.startswith("auth ") and word in ("SUBJECT", "TAG")
            if not (listed(path, param) or is_value or of_store or f"{path} {name}" in NEW | ELSEWHERE):
                missing.append(f"{path} {name} {word}")
    assert not missing, f"say what completes, or add the words to VALUES, KEYWORDS or NEW: {missing}"


def completions(cli: Cli, line: str) -> list[str]:
    """What the last word of a line completes to."""
    *words, last = line.split(" ")
    variables = {**cli.environ}
    env = Env(Streams(_Stream(), _Stream(), _Stream()), variables)
    with pytest.MonkeyPatch.context() as patch:
        for key, value in variables.items():
            patch.setenv(key, value)  # click reads os.environ
        items = ShellComplete(root, {"obj": env}, "jsctl", VARIABLE).get_completions(words, last)
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in items]


def check(cli: Cli, lines: Sequence[tuple[str, str]]) -> None:
    assert [(line, name) for line, name in lines if name not in completions(cli, line)] == []


def test_names_of_an_account_and_its_servers(
    own_account: Account, cli: Cli, system_url: str, tmp_path: Path
) -> None:
    url = own_account.url
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    pinned = {
        "durable_name": "NEW",
        "ack_policy": "explicit",
        "priority_groups": ["blue"],
        "priority_policy": "pinned_client",
    }
    js.ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.NEW", {"stream_name": "ORDERS", "config": pinned})
    js.bucket(url, "CONFIG")
    js.publish(url, "$KV.CONFIG.color")
    for bucket in "AB":
        cli(f"object add {bucket}", status=0)
    cli("object put B - --name report", stdin="x", status=0)
    check(
        cli,
        [
            ("server check consumer --stream ", "ORDERS"),
            ("server check consumer --stream ORDERS --consumer ", "NEW"),
            ("consumer unpin ORDERS NEW ", "blue"),
            ("server check kv --bucket CONFIG --key ", "color"),
            ("export kv CONFIG --key c", "color"),
            ("object link A latest B ", "report"),
            ("account report connections --username ", own_account.user),
            ("bench js get sync --stream O", "ORDERS"),
            ("trace ORD", "ORDERS.>"),
            ("audit analyze --skip ACC", "ACCOUNTS_001"),
            ("audit analyze ", "<file>"),
            ("backup stream ORDERS ", "<file>"),
            ("object sync FILES ", "<dir>"),
            ("stream ls --creds ", "<file>"),
            ("server network up ", "hub-leaf"),
            ("server network up my", "<file>"),
            ("demo guide --only ", "accounts"),
            ("server generate x --source k", "kubernetes"),
        ],
    )
    system = Cli(tmp_path / "system", system_url)
    server = system("server info --json", status=0).json
    name = server["server_name"]
    check(
        system,
        [
            *((f"{line} ", name) for line in ("top", "server info", "server graph", "server config reload")),
            *(
                (f"server {line} ", name)
                for line in ("cluster evacuate", "cluster peer-remove", "report cpu --host")
            ),
            ("server request jetstream --name ", name),
            ("server request kick 1 ", server["server_id"]),
            ("server account info ", own_account.user.upper()),
            ("server report health --account T", own_account.user.upper()),
        ],
    )


def test_names_of_the_store(tmp_path: Path) -> None:
    site = Site(tmp_path)
    try:
        for line in (
            "auth account add ORDERS --defaults",
            "auth account add SHOP --defaults",
            "auth user add alice ORDERS --defaults",
            "auth account exports add orders orders.> ORDERS",
            "auth account imports add orders orders.> SHOP --source ORDERS --local shop.>",
            "auth account keys add ORDERS shipper",
            "auth account mappings add ORDERS orders.new orders.v2 100",
        ):
            site.cli(line, status=0)
        check(
            site.cli,
            [
                ("auth account imports add x orders.> SHOP --source ", "ORDERS"),
                ("auth account callout ORDERS --auth-user ", "alice"),
                ("auth account callout SHOP --allow ", "ORDERS"),
                ("auth why --user ", "alice"),
                ("auth why --account ", "SHOP"),
                ("auth account revocations add ", "alice"),
                ("auth account keys info ORDERS ", "shipper"),
                ("auth account keys rm ORDERS --key ", "shipper"),
                ("auth account exports rm ", "orders.>"),
                ("auth account imports rm ", "shop.>"),
                ("auth account mappings rm ORDERS ", "orders.new"),
                ("auth operator edit ACME --system-account ", "SYSTEM"),
                ("server generate x --operator ", "ACME"),
                ("auth nkey show ", "<file>"),
            ],
        )
    finally:
        site.server.stop()


@pytest.mark.slow
@pytest.mark.cluster
def test_names_of_peers(cluster_cli: Cli, shared_cluster: Cluster, tmp_path: Path) -> None:
    js.stream(shared_cluster.url, "PEERS", "peers", num_replicas=3)
    group = cluster_cli("stream info PEERS --json", status=0).json["cluster"]["raft_group"]
    check(Cli(tmp_path / "system", shared_cluster.system_url), [("server request raft --group S", group)])
    check(
        cluster_cli,
        [
            ("stream cluster peer-remove PEERS ", "n2"),
            ("stream cluster step-down PEERS --preferred ", "n3"),
            ("stream find --leader ", "n1"),
            ("server stream-check --raft-group ", group),
            (
                "stream report --cluster ",
                cluster_cli("stream info PEERS --json", status=0).json["cluster"]["name"],
            ),
        ],
    )
