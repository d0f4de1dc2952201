"""Archives of an audit: ZIP files in which every file has tags, named in a manifest.

The format is that of the `nats` tool (jsm.go, audit/archive): servers, accounts and streams each have a
folder, kinds of answers a folder below it, with a numbered file a page. The manifest says what a
file is about; paths are for people only.
"""

import contextlib
import json
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from jsctl.base.files import open_seekable
from jsctl.base.json_text import parse_json
from jsctl.base.zip_files import open_zip, read_entry
from jsctl.errors import BadInput

Json = dict[str, Any]
Tags = Mapping[str, str]
"""Of a file, by name: server, cluster, account, stream, artifact_type, profile_name, or special alone."""

UNCLUSTERED = "unclustered"  #: the cluster of servers without one
MANIFEST, METADATA, LOG = "manifest", "audit_gather_metadata", "audit_gather_log"

PROFILE = "profile"  #: the type of files that hold something else than JSON

_ROOT = "capture"
_MAX_FILE_SIZE = 96 << 20  #: bytes of a file in an archive; see codec.compute_message_limit


class ArchiveWriter:
    """A writer of an archive, and a context manager: the end of the block completes the file."""

    def __init__(self, file: BinaryIO, now: float) -> None:
        """Start an archive in `file`. now: seconds since 1970, the time of all its files."""
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self._date_time = time.gmtime(now)[:6]
        self._manifest: dict[str, list[dict[str, str]]] = {}
        self._pages: dict[str, int] = {}

    def add_json(self, document: object, **tags: str) -> None:
        """Add a document; another one with the same tags is its next page."""
        text = json.dumps(document, indent=2, ensure_ascii=False)
        self.add(text.encode(errors="backslashreplace") + b"\n", "json", tags)

    def add(self, data: bytes, extension: str, tags: Tags) -> None:
        """Add a file."""
        path = _build_path(tags)
        if "special" not in tags and tags.get("artifact_type") != PROFILE:
            page = self._pages[path] = self._pages.get(path, 0) + 1
            path = f"{path}/{page:04}"
        path = f"{path}.{extension}"
        self._write(path, data)
        self._manifest[path] = [{"Name": name, "Value": value} for name, value in tags.items()]

    def __enter__(self) -> "ArchiveWriter":
        return self

    def __exit__(self, *exception: object) -> None:
        text = json.dumps(self._manifest, indent=2, ensure_ascii=False)
        self._write(
            _build_path({"special": MANIFEST}) + ".json", text.encode(errors="backslashreplace") + b"\n"
        )
        self._zip.close()

    def _write(self, path: str, data: bytes) -> None:
        entry = zipfile.ZipInfo(path, self._date_time)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        self._zip.writestr(entry, data)


class Archive:
    """An archive to read, and a context manager."""

    def __init__(self, path: str) -> None:
        """Open an archive. Raises BadInput for a file that cannot be read, or is not an archive of an
        audit."""
        self.path = path
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(open_seekable(Path(path)))
            try:
                self._zip = open_zip(file)
            except ValueError as error:
                raise BadInput(f"{path} is not an archive: {error}") from None
            self._open = stack.pop_all()
        self._names = set(self._zip.namelist())
        manifest = _build_path({"special": MANIFEST}) + ".json"
        if manifest not in self._names:
            raise BadInput(f"{path} is not an archive of an audit", "it has no manifest")
        self._files: dict[str, dict[str, str]] = {}
        try:
            for name, tags in self._parse(manifest).items():
                self._files[name] = {str(tag["Name"]): str(tag["Value"]) for tag in tags}
        except (AttributeError, KeyError, TypeError):
            raise BadInput(f"the manifest of {path} is damaged") from None
        if missing := next((name for name in self._files if name not in self._names), ""):
            raise BadInput(f"{path} is damaged", f"{missing} is missing")

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *exception: object) -> None:
        self._zip.close()
        self._open.close()

    def load(self, **required_tags: str) -> Iterator[tuple[dict[str, str], Json]]:
        """Yield the documents that have these tags, each with all of its tags, by path. Raises BadInput."""
        for name in sorted(self._files):
            tags = self._files[name]
            if name.endswith(".json") and required_tags.items() <= tags.items():
                document = self._parse(name)
                if not isinstance(document, dict):
                    raise BadInput(f"{name} in {self.path} is damaged: it is not a JSON object")
                yield tags, document

    def load_bytes(self, **required_tags: str) -> Iterator[tuple[dict[str, str], bytes]]:
        """Yield the files that have these tags as they are, each with all of its tags. Raises BadInput."""
        for name in sorted(self._files):
            if required_tags.items() <= self._files[name].items():
                try:
                    yield self._files[name], read_entry(self._zip, name, _MAX_FILE_SIZE)
                except ValueError as error:
                    raise BadInput(f"{name} in {self.path} is damaged: {error}") from None

    def values(self, tag: str, **required_tags: str) -> list[str]:
        """Return the values of a tag among the files that have the required ones, sorted."""
        return sorted(
            {
                tags[tag]
                for tags in self._files.values()
                if tag in tags and required_tags.items() <= tags.items()
            }
        )

    def load_special(self, name: str) -> Json:
        """Return a document about the archive itself; empty when the archive does not have it. Raises
        BadInput.
        """
        return next((document for _, document in self.load(special=name)), {})

    def _parse(self, name: str) -> Any:
        try:
            return parse_json(read_entry(self._zip, name, _MAX_FILE_SIZE))
        except ValueError as error:
            raise BadInput(f"{name} in {self.path} is damaged: {error}") from None


def _build_path(tags: Tags) -> str:
    """Return the path of a file, or of the folder of its pages, without an extension."""
    parts: Sequence[str]
    if special := tags.get("special"):
        parts = ("misc", special)
    else:
        kind, place = tags["artifact_type"], f"{tags['cluster']}__{tags['server']}"
        if "stream" in tags:
            parts = ("accounts", tags["account"], "streams", tags["stream"], "replicas", place, kind)
        elif "account" in tags:
            parts = ("accounts", tags["account"], "servers", place, kind)
        elif kind == PROFILE:
            parts = ("profiles", tags["cluster"], f"{tags['server']}__{tags['profile_name']}")
        else:
            parts = ("clusters", tags["cluster"], tags["server"], kind)
    return str(PurePosixPath(_ROOT, *map(_make_safe, parts)))


def _make_safe(name: str) -> str:
    """Return a name that is one component of a path below its folder, whatever program unpacks it."""
    safe = name.replace("/", "_").replace("\\", "_").replace("\0", "_")
    return f"_{safe}" if safe in ("", ".", "..") else safe
