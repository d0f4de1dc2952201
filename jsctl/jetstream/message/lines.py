"""Lines of files and streams of any length, with at most one line in memory."""

from jsctl.errors import BadInput
from jsctl.nats.codec import MAX_PAYLOAD


class LineSplitter:
    """A splitter of chunks of bytes into lines without their line ends. name: the source's, for errors."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[bytes] = []  #: the parts of the last line
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that a chunk completes. Raises BadInput for a line of more than MAX_PAYLOAD
        bytes."""
        first, *rest = chunk.split(b"\n")
        self._parts.append(first)
        self._size += len(first)
        lines = list[bytes]()
        if rest:
            lines = [b"".join(self._parts), *rest[:-1]]
            self._parts, self._size = [rest[-1]], len(rest[-1])
        if max([self._size, *map(len, lines)]) > MAX_PAYLOAD:
            raise BadInput(
                f"{self._name} has a line of more than {MAX_PAYLOAD:,} bytes, which no server takes"
            )
        return [line.removesuffix(b"\r") for line in lines]

    def end(self) -> list[bytes]:
        """Return the last line if it has no line end; empty otherwise."""
        last_line = b"".join(self._parts)
        return [last_line] if last_line else []
