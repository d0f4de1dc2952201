"""`errors ls`: the server's list."""

from tests.support.run import Cli


def test_the_list(offline_cli: Cli) -> None:
    out = offline_cli("errors ls", status=0).out
    assert "10059" in out and "stream not found" in out
    assert len(offline_cli("err ls --json", status=0).json) == len(out.splitlines()) - 2
    assert "JSStreamNotFoundErr" in offline_cli("errors ls ^10059$", status=0).out
    assert "╭" in offline_cli("errors ls", tty=True, status=0).out
    offline_cli("errors ls nothing-like-this", status=3)
    offline_cli("errors ls '('", status=64)
    offline_cli("errors ls . color", status=64)


def test_sorting(offline_cli: Cli) -> None:
    def codes(line: str, key: str = "error_code") -> list[int]:
        return [entry[key] for entry in offline_cli(f"errors ls {line} --json", status=0).json]

    assert codes("") == sorted(codes(""))
    assert codes("-R") == sorted(codes(""), reverse=True)
    assert codes(". http", "code") == sorted(codes("", "code"))
    texts = [e["description"].lower() for e in offline_cli("errors ls . d --json", status=0).json]
    assert texts == sorted(texts)
