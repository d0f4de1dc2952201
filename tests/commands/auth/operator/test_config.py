"""`auth operator config`."""

from pathlib import Path

from jsctl.auth.store import AuthStore
from tests.support.run import Cli
from tests.support.servers import RealServer, free_port


def test_config(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    system, orders = (acme.read_account(name).public for name in ("SYSTEM", "ORDERS"))
    full = auth_cli("auth operator config --json", status=0).json
    assert full["system_account"] == system and list(full["resolver_preload"]) == [system]
    assert full["resolver"]["type"] == "full" and full["resolver"]["allow_delete"] is True
    memory = auth_cli("auth operator config ACME --resolver memory --json", status=0).json
    assert memory["resolver"] == "MEMORY" and set(memory["resolver_preload"]) == {system, orders}
    file = tmp_path / "r.conf"
    assert auth_cli(f"auth operator config --output {file}", status=0).out == ""
    assert f"system_account: {system}" in file.read_text() and "# SYSTEM" in file.read_text()


def test_a_memory_resolver(tmp_path: Path, acme: AuthStore, auth_cli: Cli) -> None:
    config = auth_cli("auth operator config ACME --resolver memory", status=0).out
    server = RealServer(tmp_path / "memory", "", free_port())
    store = tmp_path / "memory" / "js"
    text = f'listen: "127.0.0.1:{server.port}"\njetstream {{ store_dir: "{store}" }}\n'
    server.config.write_text(text + config)
    server.start()
    try:
        creds = acme.get_creds_path("ORDERS", "alice")
        auth_cli(f"stream ls --server {server.url} --creds {creds}", status=0)
    finally:
        server.stop()
