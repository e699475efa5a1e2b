"""Bytes that arrive in pieces, taken in the order in which a reader of archives asks for them."""

from collections.abc import Callable, Iterator

from verifier.sources.ledger import ContainerError

Sink = Callable[[memoryview], object]


class Stream:
    """The bytes of the tar in order; pieces are never joined but where a header is split."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        """Begin with the first piece."""
        self._pieces = pieces
        self._piece = b""
        self._view = memoryview(b"")
        self._at = 0
        self.offset = 0

    def _next(self) -> bool:
        self._piece = next(self._pieces, b"")
        self._view = memoryview(self._piece)
        self._at = 0
        return bool(self._piece)

    def take(self, length: int) -> bytes:
        """Return `length` bytes, fewer at the end."""
        data = self._piece[self._at : self._at + length]
        if len(data) == length:
            self._at += length
            self.offset += length
            return data
        self._at += len(data)
        while len(data) < length and self._next():
            more = self._piece[: length - len(data)]
            self._at = len(more)
            data += more
        self.offset += len(data)
        return data

    def feed(self, length: int, sink: Sink | None) -> None:
        """Hand the next `length` bytes over, piece by piece."""
        self.offset += length
        while length:
            if self._at == len(self._piece) and not self._next():
                raise ContainerError("tree-tar-truncated", got=f"{length:,} bytes too few")
            part = self._view[self._at : self._at + length]
            if sink:
                sink(part)
            self._at += len(part)
            length -= len(part)

    def rest(self) -> Iterator[bytes]:
        """Return all that is left."""
        yield self._piece[self._at :]
        while self._next():
            yield self._piece
