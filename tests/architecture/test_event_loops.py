"""What needs an event loop waits for one: a verb that imports no asyncio begins without."""

import ast
from pathlib import Path

from jsctl import registry
from tests.support.sources import PACKAGE, ROOT, read_modules
from tests.support.stepping import imports_asyncio, list_imports, parse_imports, walk_module_level

IN_A_LOOP = {
    "base/loops.py": "it makes loops",
    "base/signals.py": "its blocks are entered in a loop",
    "render/event_writer.py": "Env waits for a loop when events have background work",
    "jetstream/message/publisher.py": "it publishes meanwhile only in a loop",
}


def _list_stepped_modules() -> set[str]:
    targets = {entry.target.partition(":")[0] for entry in registry.list_commands().values() if entry.target}
    begun = {target for target in targets if not imports_asyncio(target)}
    begun |= {"jsctl.env", "jsctl.nats.connection", "jsctl.nats.blocking_driver", "jsctl.render.event_writer"}
    assert {"jsctl.commands.stream.ls", "jsctl.commands.publish", "jsctl.commands.kv.get"} <= begun
    return {name for module in begun for name in list_imports(module) if name.startswith("jsctl")}


def _list_imports(module: ast.Module) -> list[str]:
    imports = (
        node for node in walk_module_level(module.body) if isinstance(node, ast.Import | ast.ImportFrom)
    )
    return [ast.unparse(node) for node in imports]


def test_every_import_of_a_module_is_read() -> None:
    for path, (module, *_) in read_modules().items():
        assert isinstance(module, ast.Module)
        found = _list_imports(parse_imports(path.read_text(encoding="utf-8")))
        assert found == _list_imports(module), path


def test_functions_wait_for_a_loop_before_they_import_asyncio() -> None:
    wrong = []
    for name in _list_stepped_modules():
        path = ROOT / Path(*name.split(".")).with_suffix(".py")
        if path not in read_modules() or str(path.relative_to(PACKAGE)) in IN_A_LOOP:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for function in read_modules()[path]:
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            code = "\n".join(lines[function.lineno - 1 : function.end_lineno])
            imported = code.find("import asyncio")
            if imported >= 0 and "enter_event_loop()" not in code[:imported]:
                wrong.append(f"{name}: {function.name}")
    assert not wrong


def test_what_is_imported_late_is_imported_in_a_function() -> None:
    """No module stands in for another, but for what crc32c imports and nobody needs, most of its import."""
    standing_in = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "sys.modules[" in (text := path.read_text(encoding="utf-8")) or "ModuleType)" in text
    }
    assert standing_in <= {"base/checksums.py"}
