"""Files of declared streams, for tests."""

from pathlib import Path
from typing import Any

from tests.support.run import Cli, Outcome


class Files:
    """Applies texts as files."""

    def __init__(self, cli: Cli, folder: Path) -> None:
        self.cli = cli
        self.path = folder / "streams.yaml"

    def __call__(self, verb: str, text: str, more: str = "", **how: Any) -> Outcome:
        self.path.write_text(text)
        return self.cli(f"{verb} -f {self.path} {more}", **how)
