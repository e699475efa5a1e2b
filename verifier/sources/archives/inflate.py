"""Decompression: what a gzip, zstd or xz file holds, piece by piece, in bounded memory.

The one adapter of `isal` and `zstandard`. The format is known by its first bytes; a name says
nothing. Every member, frame or stream is read, each begins where the one before it ended, and
whatever else follows is refused: a reader that stops at the first member and one that goes on
would unpack two different trees. No piece is larger than a mebibyte, whatever the input is.
"""

import lzma
import struct
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol

from verifier.core.limits import ARCHIVE_BYTES, INFLATE_MEMORY, INFLATED_FREELY, INFLATION, MIB
from verifier.sources.ledger import ContainerError

_READ: Final = 128 * 1024
_AHEAD: Final = 4
_GZIP: Final = b"\x1f\x8b"
_GZIP_RESERVED: Final = 0xE0
_XZ: Final = b"\xfd7zXZ\x00"
_ZSTD: Final = 0xFD2FB528
_ZSTD_SKIPPABLE: Final = 0x184D2A50
_ZSTD_RLE, _ZSTD_RESERVED = 1, 3
#: What other programs unpack and pinproof does not.
_OTHERS: Final = {
    b"BZh": "bzip2",
    b"\x5d\x00\x00": "lzma",
    b"LZIP": "lzip",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x1f\x9d": "compress",
    b"\x89LZO": "lzop",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7-zip",
}


class Bytes(Protocol):
    """What is decompressed: a file, or a range of one, read by position from its start on."""

    @property
    def size(self) -> int:
        """How many bytes there are."""

    def read(self, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset`, fewer at the end."""


class _Input:
    """The bytes of the file in order, and how many of them were handed out."""

    def __init__(self, file: Bytes) -> None:
        self._file = file
        self._held = b""
        self._at = 0
        self.taken = 0

    def peek(self, length: int) -> bytes:
        """Return the next bytes without taking them."""
        if len(self._held) - self._at < length:
            rest = self._held[self._at :]
            more = self._file.read(self.taken + len(rest), max(_READ, length) - len(rest))
            self._held, self._at = rest + more, 0
        return self._held[self._at : self._at + length]

    def take(self, length: int) -> bytes:
        """Return exactly `length` bytes."""
        data = self.peek(length)
        if len(data) < length:
            raise ContainerError("tree-compressed-truncated", offset=self.taken)
        self._at += length
        self.taken += length
        return data

    def some(self) -> bytes:
        """Return what is at hand, up to 128 KiB; nothing at the end."""
        data = self._held[self._at :] or self._file.read(self.taken, _READ)
        self._held, self._at = b"", 0
        self.taken += len(data)
        return data

    def give_back(self, data: bytes) -> None:
        """Take back the end of what `some` returned last."""
        self._held, self._at = data, 0
        self.taken -= len(data)


class Decoded(NamedTuple):
    """What a file holds, and how it was compressed: gzip, zstd, xz or none."""

    compression: str
    pieces: Generator[bytes]


def pieces(file: Bytes) -> Generator[bytes]:
    """Yield what `file` holds once decompressed, or its own bytes if it is not compressed."""
    compression, counted = decoded(file)
    return counted if compression == PLAIN else ahead(counted)


def decoded(file: Bytes) -> Decoded:
    """Return the compression of `file`, and what it holds, decompressed as it is asked for."""
    source = _Input(file)
    decoder = _decoder(source)
    return Decoded(_COMPRESSIONS[decoder], _counted(decoder(source), source))


def _counted(decoded: Iterator[bytes], source: _Input) -> Generator[bytes]:
    total = 0
    for piece in decoded:
        total += len(piece)
        check_size(total, of=source.taken)
        yield piece


def ahead(pieces: Generator[bytes]) -> Generator[bytes]:
    """Run `pieces` in a thread of its own, a few ahead: both cores work, memory stays bounded.

    What the thread raises is raised here, at its place behind the pieces before it.
    """
    from queue import Empty, Queue  # noqa: PLC0415  (loaded when something is decompressed)
    from threading import Event, Thread  # noqa: PLC0415

    ready: Queue[bytes | Exception | None] = Queue(_AHEAD)
    stop = Event()

    def work() -> None:
        try:
            for piece in pieces:
                ready.put(piece)
                if stop.is_set():
                    return
        except Exception as error:  # noqa: BLE001  (raised by the other thread)
            ready.put(error)
        else:
            ready.put(None)
        finally:
            pieces.close()

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while (piece := ready.get()) is not None:
            if isinstance(piece, Exception):
                raise piece
            yield piece
    finally:
        stop.set()
        # Room for what the thread may still want to say: at most a piece and an error.
        with suppress(Empty):
            while True:
                ready.get_nowait()
        thread.join()


def check_size(unpacked: int, *, of: int) -> None:
    """Refuse more content than a tree may have, or than its archive's size can explain."""
    if unpacked > ARCHIVE_BYTES:
        raise ContainerError("tree-too-large", expected=f"at most {ARCHIVE_BYTES:,} bytes")
    if unpacked > max(INFLATED_FREELY, INFLATION * of):
        raise ContainerError(
            "tree-bomb",
            expected=f"at most {INFLATION} times the size of the archive",
            got=f"more than {unpacked:,} bytes from {of:,}",
        )


def _decoder(source: _Input) -> Callable[[_Input], Iterator[bytes]]:
    start = source.peek(6)
    if start[:2] == _GZIP:
        return _gzip
    if start == _XZ:
        return _xz
    if len(start) > 3 and _is_zstd(_u32(start[:4])):  # noqa: PLR2004
        return _zstd
    for magic, name in _OTHERS.items():
        if start.startswith(magic):
            raise ContainerError(
                "tree-compression-unsupported", expected="a tar, plain or gzip, zstd, xz", got=name
            )
    return _plain


def _plain(source: _Input) -> Iterator[bytes]:
    while piece := source.some():
        yield piece


def _gzip(source: _Input) -> Iterator[bytes]:
    igzip = _igzip()
    while start := source.peek(4):
        at = source.taken
        if start[:2] != _GZIP:
            raise _trailing(source)
        if len(start) > 3 and (start[2] != 8 or start[3] & _GZIP_RESERVED):  # noqa: PLR2004
            raise ContainerError("tree-compressed-damaged", offset=at, got="an unknown header")
        member = igzip.IgzipDecompressor(flag=igzip.DECOMP_GZIP)
        try:
            yield from _drained(member, source, at)
        except igzip.IsalError:
            raise _damaged(at) from None


def _igzip() -> Any:
    """Load isal when it is needed; its own types call its exception an instance."""
    from isal import igzip_lib  # noqa: PLC0415

    return igzip_lib


def _xz(source: _Input) -> Iterator[bytes]:
    while start := source.peek(6):
        at = source.taken
        if start != _XZ:
            raise _trailing(source)
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=INFLATE_MEMORY)
        try:
            yield from _drained(stream, source, at)
        except lzma.LZMAError as error:
            if "limit" in str(error):
                raise _memory(at) from None
            raise _damaged(at) from None


def _drained(decompressor: Any, source: _Input, at: int) -> Iterator[bytes]:
    """Run one member to its end and give back what follows it."""
    while not decompressor.eof:
        data = source.some() if decompressor.needs_input else b""
        if decompressor.needs_input and not data:
            raise ContainerError("tree-compressed-truncated", offset=at)
        if piece := decompressor.decompress(data, MIB):
            yield piece
    source.give_back(decompressor.unused_data)


def _zstd(source: _Input) -> Iterator[bytes]:
    """Walk the frames and blocks ourselves (RFC 8878, section 3.1).

    The library decides nothing about ends: its stream reader takes a frame that was cut off for
    one that ended. One block at a time also bounds what one call can return.
    """
    import zstandard  # noqa: PLC0415  (loaded when a zstd file is read)

    while start := source.peek(4):
        at = source.taken
        if len(start) < 4 or not _is_zstd(_u32(start)):  # noqa: PLR2004
            raise _trailing(source)
        if _u32(start) != _ZSTD:
            source.take(4)
            length = _u32(source.take(4))
            for done in range(0, length, MIB):
                source.take(min(MIB, length - done))
            continue
        head = _frame_head(source)
        frame = zstandard.ZstdDecompressor(max_window_size=INFLATE_MEMORY).decompressobj()
        length = 0
        try:
            for part in _frame_parts(source, head):
                if piece := frame.decompress(part):
                    length += len(piece)
                    yield piece
        except zstandard.ZstdError as error:
            if "memory" in str(error):
                raise _memory(at) from None
            raise _damaged(at) from None
        # The library lets a frame end early in an empty block, whatever size it stated.
        if not frame.eof or frame.unused_data or head.length not in (None, length):
            raise _damaged(at)


class _FrameHead(NamedTuple):
    """A zstd frame's header: its bytes, the length it states, whether a checksum follows."""

    data: bytes
    length: int | None
    checked: bool


def _frame_head(source: _Input) -> _FrameHead:
    start = source.take(5)
    flags = start[4]
    single, dictionary = flags >> 5 & 1, (0, 1, 2, 4)[flags & 3]
    size = (single, 2, 4, 8)[flags >> 6]
    rest = source.take((1 - single) + dictionary + size)
    length = int.from_bytes(rest[len(rest) - size :], "little") if size else None
    if length is not None and size == 2:  # noqa: PLR2004  (two bytes count from 256)
        length += 256
    return _FrameHead(start + rest, length, bool(flags & 4))


def _frame_parts(source: _Input, head: _FrameHead) -> Iterator[bytes]:
    """Yield a frame's header, each of its blocks, and its checksum."""
    yield head.data
    last = False
    while not last:
        at = source.taken
        block = source.take(3)
        described = int.from_bytes(block, "little")
        last, kind, length = bool(described & 1), described >> 1 & 3, described >> 3
        if kind == _ZSTD_RESERVED or length > _READ:
            raise ContainerError("tree-compressed-damaged", offset=at, got="an unknown block")
        yield block + source.take(1 if kind == _ZSTD_RLE else length)
    if head.checked:
        yield source.take(4)


def _is_zstd(magic: int) -> bool:
    return magic == _ZSTD or magic & ~0xF == _ZSTD_SKIPPABLE


#: The names of the compressions, as reports print them.
PLAIN: Final = "none"
_COMPRESSIONS: Final[dict[Callable[[_Input], Iterator[bytes]], str]] = {
    _plain: PLAIN,
    _gzip: "gzip",
    _zstd: "zstd",
    _xz: "xz",
}


def _u32(data: bytes) -> int:
    value: int = struct.unpack("<I", data)[0]
    return value


def _trailing(source: _Input) -> ContainerError:
    zeros = not source.peek(64).strip(b"\0")
    return ContainerError(
        "tree-compressed-trailing",
        offset=source.taken,
        expected="the end of the file",
        got="zeros" if zeros else "other bytes",
    )


def _damaged(at: int) -> ContainerError:
    return ContainerError("tree-compressed-damaged", offset=at)


def _memory(at: int) -> ContainerError:
    return ContainerError(
        "tree-compression-memory", offset=at, expected=f"at most {INFLATE_MEMORY >> 20} MiB"
    )


def deflated(file: Bytes, offset: int, length: int) -> Iterator[bytes]:
    """Yield what the raw deflate data `[offset, offset + length)` holds, which must end there."""
    igzip = _igzip()
    raw = igzip.IgzipDecompressor(flag=igzip.DECOMP_DEFLATE)
    at, end = offset, offset + length
    try:
        while not raw.eof:
            data = b""
            if raw.needs_input:
                data = file.read(at, min(_READ, end - at))
                at += len(data)
                if not data:
                    raise ContainerError("tree-zip-data", got="deflated data that end early")
            if piece := raw.decompress(data, MIB):
                yield piece
    except igzip.IsalError:
        raise ContainerError("tree-zip-data", got="damaged data") from None
    if raw.unused_data or at != end:
        raise ContainerError("tree-zip-data", got="bytes behind the deflated data")


def stored(file: Bytes, offset: int, length: int) -> Iterator[bytes]:
    """Yield the bytes `[offset, offset + length)` themselves."""
    for at in range(offset, offset + length, MIB):
        yield file.read(at, min(MIB, offset + length - at))


def crc32(data: bytes, value: int = 0) -> int:
    """Return the CRC of zip, continued from `value`."""
    from isal import isal_zlib  # noqa: PLC0415  (loaded when a zip entry is read)

    result: int = isal_zlib.crc32(data, value)
    return result
