"""`jsctl mcp`: spoken to by a client of the protocol over stdio, and no secret in any answer of any tool."""

import asyncio
import base64
import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from jsctl.base.standard_streams import Streams
from jsctl.env import Env
from jsctl.registry.model import DESTROYS, READS
from tests.support import js
from tests.support.jwt import Operator, write_creds
from tests.support.run import Cli
from tests.support.servers import RealServer

pytest.importorskip("mcp")

Call = Callable[..., Awaitable[tuple[Any, bool]]]


def talk(cli: Cli, work: Callable[[Any, Call], Awaitable[None]], *flags: str) -> None:
    """Run a coroutine that takes a session of the SDK's client, and a function that calls a tool."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def run() -> None:
        environ = {**os.environ, **cli.environ}
        words = ["-m", "jsctl", "mcp", *flags]
        server = StdioServerParameters(command=sys.executable, args=words, env=environ)
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()

            async def call(tool: str, /, **arguments: Any) -> tuple[Any, bool]:
                result = await session.call_tool(tool, arguments)
                text = result.content[0].text  # type: ignore[union-attr]
                try:
                    return json.loads(text), bool(result.is_error)
                except ValueError:
                    return text, bool(result.is_error)

            await work(session, call)

    asyncio.run(run())


@pytest.mark.slow
def test_it_reads(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    for number in range(120):
        js.stream(url, f"S{number:03}", f"s{number}")

    async def work(session: Any, call: Call) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert 12 <= len(tools) <= 20
        assert {"doctor", "report", "consumer_why", "stream_info", "find_tools", "call_tool"} <= tools.keys()
        assert all(tool.annotations.read_only_hint for tool in tools.values())
        assert tools["stream_info"].input_schema["properties"]["stream"]["type"] == "string"
        assert not {"server", "context", "creds"} & tools["doctor"].input_schema["properties"].keys()
        names, failed = await call("stream_ls")
        assert (len(names), names[-1], failed) == (101, "… 21 more", False)
        info, _ = await call("stream_info", stream="ORDERS")
        assert info["config"]["subjects"] == ["orders.>"]
        missing, failed = await call("stream_info", stream="NOPE")
        assert (missing["err_code"], missing["status"], failed) == (10059, 3, True)
        found, _ = await call("find_tools", query="stream gaps")
        assert found["tools"][0]["name"] == "stream_gaps" and len(found["tools"]) == 8
        assert found["more"] == f"{len(found['names'])} more"
        assert (await call("call_tool", name="stream_gaps", arguments={"stream": "ORDERS"})) == ([], False)
        for name, arguments in (
            ("stream_rm", {"stream": ["ORDERS"]}),
            ("call_tool", {"name": "stream_rm", "arguments": {"stream": ["ORDERS"]}}),
            ("plan_change", {"name": "stream_rm", "arguments": {"stream": ["ORDERS"]}}),
            ("context_info", {}),
            ("shell", {}),
            ("stream_info", {"server": "nats://elsewhere"}),
            ("stream_info", {"stream": {"a": 1}}),
            ("call_tool", {}),
        ):
            refused, failed = await call(name, **arguments)
            assert failed, name
            assert ("--allow-changes" in refused["hint"]) == ("stream_rm" in (name, arguments.get("name")))
        assert (await call("find_tools", query="remove stream"))[0]["note"] == "Nothing can be changed."
        answer, _ = await call("stream_info", stream="@/etc/passwd")
        assert "root:" not in json.dumps(answer)

    talk(cli, work)
    assert js.info(url, "ORDERS")


@pytest.mark.slow
def test_incident_reads_a_recording(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli(f"report --record {tmp_path}/recorded --count 1", status=0)

    async def work(session: Any, call: Call) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert tools["incident"].input_schema["required"] == ["source"]
        assert tools["incident"].input_schema["properties"]["between"]["type"] == "array"
        source = f"{tmp_path}/recorded"
        story, failed = await call("incident", source=source, between=["1h", "0s"])
        assert (story["rounds"], failed) == (1, False), story
        for arguments in ({"source": "/etc/passwd"}, {"source": source, "between": ["1h"]}, {}):
            answer, failed = await call("incident", **arguments)
            assert failed and "root:" not in json.dumps(answer)

    talk(cli, work)


@pytest.mark.slow
def test_changes_need_a_plan(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=3)

    async def work(session: Any, call: Call) -> None:
        tools = {tool.name: tool.annotations for tool in (await session.list_tools()).tools}
        assert tools["apply_plan"].destructive_hint and not tools["apply_plan"].read_only_hint
        purge = {"name": "stream_purge", "arguments": {"stream": ["ORDERS"]}}
        _, failed = await call("call_tool", **purge)
        assert failed
        plan, failed = await call("plan_change", **purge)
        assert not failed and plan["destroys"] and plan["would"]["streams"][0]["messages"] == 3
        assert await asyncio.to_thread(lambda: js.info(url, "ORDERS")["state"]["messages"]) == 3
        await asyncio.to_thread(js.publish, url, "orders.new")
        changed, _ = await call("apply_plan", plan=plan["plan"])
        assert not changed["changed"] and changed["new_plan"]["would"]["streams"][0]["messages"] == 4
        done, failed = await call("apply_plan", plan=changed["new_plan"]["plan"])
        assert (done["changed"], failed) == (True, False)
        assert await asyncio.to_thread(lambda: js.info(url, "ORDERS")["state"]["messages"]) == 0
        _, failed = await call("apply_plan", plan=changed["new_plan"]["plan"])
        assert failed, "a plan is good for one change"
        plan, _ = await call(
            "plan_change",
            name="stream_add",
            arguments={"stream": "NEW", "subjects": ["new"], "defaults": True},
        )
        assert "no dry run" in plan["would"]
        await call("apply_plan", plan=plan["plan"])
        assert await asyncio.to_thread(js.info, url, "NEW")

    talk(cli, work, "--allow-changes")


@pytest.mark.slow
def test_a_flag_that_changes_is_a_tool_of_its_own(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli("consumer add ORDERS C --pull --defaults", status=0)
    cli("consumer pause ORDERS C 1h --force", status=0)

    def is_paused() -> bool:
        return bool(cli("consumer info ORDERS C --json", status=0).json.get("paused"))

    async def read(session: Any, call: Call) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert "fix" not in tools["doctor"].input_schema["properties"]
        for name, arguments in (
            ("doctor", {"fix": True}),
            ("doctor_fix", {}),
            ("consumer_dead", {"stream": "ORDERS", "consumer": "C", "capture": True}),
        ):
            assert (await call("call_tool", name=name, arguments=arguments))[1], name
        letters = {"stream": "ORDERS", "consumer": "C"}
        assert await call("call_tool", name="consumer_dead", arguments=letters) == ([], False)

    async def change(session: Any, call: Call) -> None:
        assert (await call("call_tool", name="doctor_fix"))[1]
        assert (await call("call_tool", name="doctor", arguments={"fix": True}))[1]
        plan, _ = await call("plan_change", name="doctor_fix")
        assert (plan["line"], plan["destroys"]) == ("jsctl doctor --fix", False)
        assert [step["command"][:2] for step in plan["would"]["answer"]["steps"]] == [["consumer", "resume"]]
        assert await asyncio.to_thread(is_paused)
        done, failed = await call("apply_plan", plan=plan["plan"])
        assert (done["changed"], failed) == (True, False), done
        plan, _ = await call("plan_change", name="consumer_dead_capture")
        assert plan["line"] == "jsctl consumer dead --capture"
        assert await asyncio.to_thread(js.ask, url, "STREAM.NAMES") == {**names, "offset": 0}

    names = js.ask(url, "STREAM.NAMES")
    talk(cli, read)
    assert is_paused()
    talk(cli, change, "--allow-changes")
    assert not is_paused()


@pytest.mark.slow
def test_a_plan_with_a_duration_is_applied(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new", count=3)
    cli("consumer add ORDERS C --pull --defaults", status=0)

    async def work(session: Any, call: Call) -> None:
        pause = {"stream": "ORDERS", "consumer": "C", "until": "1h"}
        plan, _ = await call("plan_change", name="consumer_pause", arguments=pause)
        await asyncio.sleep(1.1)
        assert (await call("apply_plan", plan=plan["plan"]))[0]["changed"]
        arguments = {"stream": "ORDERS", "max_msgs": 1, "allow_data_loss": True}
        plan, _ = await call("plan_change", name="stream_edit", arguments=arguments)
        assert plan["destroys"], "it deletes messages"
        assert [change["key"] for change in plan["would"]] == ["max_msgs"], "and is no failure"

    talk(cli, work, "--allow-changes")
    assert cli("consumer info ORDERS C --json", status=0).json["paused"]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["interrupt", "close"])
def test_lines_of_json_and_an_end_in_the_middle_of_a_call(cli: Cli, url: str, end: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    with subprocess.Popen(
        [sys.executable, "-m", "jsctl", "mcp"],
        env={**os.environ, **cli.environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr

        def ask(number: int, method: str, **params: Any) -> None:
            line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(f"{json.dumps(line)}\n".encode())  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]

        def read() -> Any:
            return json.loads(process.stdout.readline())  # type: ignore[union-attr]

        ask(1, "initialize", **hello)
        assert read()["result"]["serverInfo"]["name"] == "jsctl"
        process.stdin.write(b"not JSON \xff\n")
        ask(2, "tools/call", name="stream_ls", arguments={})
        assert json.loads(read()["result"]["content"][0]["text"]) == ["ORDERS"]
        ask(3, "nope")
        assert read()["error"]["code"] == -32601
        ask(4, "tools/call", name="report", arguments={"count": 1000})
        if end == "interrupt":
            process.send_signal(signal.SIGINT)
        else:
            process.stdin.close()
        assert process.wait(timeout=20) == (130 if end == "interrupt" else 0)
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_one_context_unless_told(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    cli(f"context add a --server {url}", status=0)
    cli("context add b --server nats://127.0.0.1:1", status=0)
    del cli.environ["NATS_URL"]

    async def work(session: Any, call: Call) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert tools["stream_ls"].input_schema["properties"]["context"]["enum"] == ["a", "b"]
        assert await call("stream_ls", context="a") == (["ORDERS"], False)
        answer, failed = await call("stream_ls", context="b")
        assert failed and answer["status"] == 4
        assert (await call("stream_ls", context="c"))[1]

    talk(cli, work, "--context", "a", "--context", "b")
    assert cli("mcp --context nope", status=64).err.count("\n") == 1


MARKS = {
    "password": "marked-password-Zq81",
    "token": "marked-token-Yw72",
    "kv": "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY",
}


def test_no_argument_is_a_place_or_a_file(offline_cli: Cli) -> None:
    assistant = make_assistant(offline_cli, with_changes=True)
    for verb in [*assistant._reading.values(), *assistant._changing.values()]:
        for name, kind in verb.build_schema()["properties"].items():
            help = kind.get("description", "").lower()
            is_place = bool(re.search(r"\b(url|context|address|editor|stdin|ctrl-c)\b", help))
            assert not is_place or name == "js_domain", (verb.path, name, help)


def make_assistant(cli: Cli, *, with_changes: bool) -> Any:
    from jsctl.app import root, run
    from jsctl.commands.assistants.serving import Assistant

    env = Env(Streams(io.StringIO(), io.StringIO(), io.StringIO()), cli.environ)
    env.run_line = run
    env.flags["context"] = "guarded"
    return Assistant(env, root, [], with_changes=with_changes)


def build_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for a tool: names of what exists, and texts."""
    names = {
        "stream": "ORDERS",
        "consumer": "NEW",
        "bucket": "CONFIG",
        "key": "login",
        "id": 1,
        "code": "10059",
    }
    arguments = {}
    for name, kind in schema["properties"].items():
        if name in schema["required"] or name in names:
            value: Any = names.get(name, "x")
            if kind["type"] in ("integer", "number"):
                value = 1
            arguments[name] = [value] if kind["type"] == "array" else kind.get("enum", [value])[0]
    return arguments


@pytest.mark.slow
def test_no_secret_in_any_answer_of_any_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Marked ones are in the server's configuration, in addresses, contexts, variables, files, messages."""
    operator = Operator()
    jwt, key = operator.user()
    creds = write_creds(tmp_path / "user.creds", jwt, key.seed)
    (tmp_path / "user.nk").write_text(key.seed)
    password, token = MARKS["password"], MARKS["token"]
    server = RealServer(
        tmp_path / "server",
        'listen: "127.0.0.1:{port}"\nserver_name: n1\njetstream { store_dir: "{store}" }\n'
        f"accounts {{ A: {{ jetstream: enabled, users: [{{user: ann, password: {password}}}] }}\n"
        f"  SYS: {{ users: [{{user: sys, password: {password}}}] }} }}\nsystem_account: SYS\n"
        'leafnodes { remotes: [{ url: "nats://leaf:' + password + '@127.0.0.1:1", account: A }] }\n',
    ).start()
    cli = Cli(tmp_path / "config")
    cli.environ["NATS_TIMEOUT"] = "300ms"
    monkeypatch.setattr("jsctl.commands.assistants.serving._CALL_SECONDS", 5.0)
    url = server.url.replace("nats://", f"nats://ann:{password}@")
    try:
        cli(["context", "add", "guarded", "--server", url], status=0)
        cli(f"context add other --server {server.url} --token {token}", status=0)
        cli(f"context add files --server {server.url} --creds {creds}", status=0)
        cli(f"context add nkeys --server {server.url} --nkey {tmp_path / 'user.nk'}", status=0)
        js.stream(url, "ORDERS", "orders.>", description=f"see {url}", allow_direct=True)
        message = json.dumps({"auth_token": token, "pass": password, "jwt": jwt, "text": creds.read_text()})
        js.publish(url, "orders.new", message.encode())
        js.publish(url, "orders.new", creds.read_bytes())
        js.bucket(url, "CONFIG")
        js.publish(url, "$KV.CONFIG.login", f"nats://leaf:{password}@hub {MARKS['kv']}".encode())
        cli("--context guarded consumer add ORDERS NEW --pull --defaults", status=0)
        texts: dict[str, str] = {}

        async def ask() -> None:
            for with_changes in (False, True):
                assistant = make_assistant(cli, with_changes=with_changes)
                for verb in [*assistant._reading.values(), *assistant._changing.values()]:
                    arguments = build_arguments(verb.build_schema())
                    name = verb.name if verb.only_reads else "plan_change"
                    call = arguments if verb.only_reads else {"name": verb.name, "arguments": arguments}
                    begin = time.monotonic()
                    texts[verb.name], _ = await assistant.answer(name, call)
                    assert time.monotonic() - begin < 4, f"{verb.name} does not end by itself"
                    hints = assistant._describe(verb).annotations
                    assert hints.read_only_hint == (verb.entry.impact == READS)
                    assert hints.destructive_hint == (verb.entry.impact == DESTROYS)
                texts["find_tools"], _ = await assistant.answer("find_tools", {"query": password})

        asyncio.run(ask())
    finally:
        server.stop()
    assert len(texts) > 100
    payload = base64.b64decode(json.loads(texts["stream_get"])["data"]).decode()
    assert payload.count("[hidden]") >= 4 and "[hidden]" in texts["kv_get"], "the messages were read"
    secrets = (*MARKS.values(), key.seed, jwt, jwt.split(".")[2])
    for name, text in texts.items():
        seen = [text]
        for encoded in re.findall(r"[A-Za-z0-9+/]{12,}={0,2}", text):
            with contextlib.suppress(ValueError):
                seen.append(base64.b64decode(encoded).decode(errors="replace"))
        assert not [secret for secret in secrets if secret in "\n".join(seen)], (name, seen)
