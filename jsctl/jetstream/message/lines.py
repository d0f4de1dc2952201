"""Lines of files and streams of any length, of which one line at most is in memory."""

from jsctl.errors import BadInput
from jsctl.nats.codec import MAX_PAYLOAD


class LineSplitter:
    """A splitter of chunks of bytes into lines without their line ends. name: how errors call the source."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun: list[bytes] = []  #: the parts of the last line
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that a chunk completes. Raises BadInput for one of more than MAX_PAYLOAD bytes."""
        first, *others = chunk.split(b"\n")
        self._begun.append(first)
        self._size += len(first)
        lines = list[bytes]()
        if others:
            lines = [b"".join(self._begun), *others[:-1]]
            self._begun, self._size = [others[-1]], len(others[-1])
        if max([self._size, *map(len, lines)]) > MAX_PAYLOAD:
            raise BadInput(
                f"{self._name} has a line of more than {MAX_PAYLOAD:,} bytes, which no server takes"
            )
        return [line.removesuffix(b"\r") for line in lines]

    def end(self) -> list[bytes]:
        """Return what follows the last line end: a line, or none."""
        rest = b"".join(self._begun)
        return [rest] if rest else []
