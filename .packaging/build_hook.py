"""Pack the pages for `man`, which are made from the commands, with a wheel."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManPages(BuildHookInterface):  # type: ignore[type-arg]
    """A hook of the build; an editable installation has no pages, as they would not follow the clone."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the pages to a folder for temporary files, and have the build pack them."""
        if version == "editable":
            return
        sys.dont_write_bytecode = True
        sys.path.insert(0, self.root)
        from jsctl.app import root
        from jsctl.commands.installing.man_pages import build_pages

        self._folder = tempfile.TemporaryDirectory(prefix="jsctl-man-")
        for name, text in build_pages(root):
            Path(self._folder.name, name).write_text(text, encoding="utf-8")
        build_data["shared_data"][self._folder.name] = "share/man/man1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder."""
        if version != "editable":
            self._folder.cleanup()
