"""What all archives share: a file that must not change, what was found in it, its entries.

The archive is opened once a pass, as a regular file, and read by position. Whatever the pass
finds, a file that changed meanwhile gives no judgement at all: it may be half of two archives.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from verifier.core.digest import Digest
from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding
from verifier.core.printable import printable
from verifier.sources.ledger import ContainerError, Ledger
from verifier.sources.unavailable import changed, too_large, unreadable

_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class Steady:
    """One regular file open for reading: its bytes by position, and its size."""

    def __init__(self, descriptor: int) -> None:
        """Remember what the file is like now."""
        self._descriptor = descriptor
        self.stamp = self._now()
        self.size = self.stamp[2]

    def _now(self) -> tuple[int, int, int, int, int]:
        now = os.fstat(self._descriptor)
        return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)

    @property
    def changed(self) -> bool:
        """Whether it is no longer what it was when it was opened."""
        return self._now() != self.stamp

    def read(self, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset`, fewer at the end of the file."""
        data = b""
        while len(data) < length:
            more = os.pread(self._descriptor, length - len(data), offset + len(data))
            if not more:
                break
            data += more
        return data


@contextmanager
def opened(path: Path, name: str) -> Iterator[int]:
    """Lend the descriptor of a regular file.

    Raises `UnavailableError` if it is none or cannot be opened, and for every failed read.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnavailableError(
                f"{name}: expected a file, got a folder or a special file",
                code="not-a-file",
                remedy="name the archive itself",
            )
        yield descriptor
    except OSError as error:
        raise unreadable(name, error) from None
    finally:
        os.close(descriptor)


class Archive:
    """One archive on disk: what `TarTree` and `ZipTree` have in common."""

    def __init__(self, path: Path, *, name: str) -> None:
        """Remember the file; nothing is opened before something is asked for."""
        self._path = path
        self._name = name
        self._stamp: tuple[int, ...] | None = None
        self._findings: dict[Finding, None] = {}
        self._ignored: tuple[str, ...] = ()
        self._complete = True
        self._not_proven: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the user called it."""
        return self._name

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong or worth knowing; complete after `entries` or `read`."""
        return tuple(self._findings)

    @property
    def ignored(self) -> tuple[str, ...]:
        """What was seen and left out on purpose, in words."""
        return self._ignored

    @property
    def not_proven(self) -> tuple[str, ...]:
        """What a reading that went straight to one member left unread."""
        return self._not_proven

    @property
    def digests(self) -> tuple[Digest, ...]:
        """None of its own."""
        return ()

    @property
    def complete(self) -> bool:
        """Whether every entry could be listed; if not, a finding says why."""
        return self._complete

    @contextmanager
    def _pass(self) -> Iterator[tuple[Steady, Ledger]]:
        """Open the archive for one pass, and close the books whatever it found."""
        ledger = Ledger()
        with opened(self._path, self._name) as descriptor:
            file = Steady(descriptor)
            try:
                yield file, ledger
            except ContainerError as error:
                ledger.stop(error)
            finally:
                if file.changed or self._stamp not in (None, file.stamp):
                    raise changed(self._name)
            self._stamp = file.stamp
        ledger.close()
        self._findings.update(dict.fromkeys(ledger.findings))
        self._complete = self._complete and ledger.complete
        self._ignored = tuple(
            f"{what} ({count:,})" if count > 1 else what for what, count in ledger.ignored.items()
        )

    def _too_long(self, path: bytes, limit: int) -> UnavailableError:
        shown = printable(os.fsdecode(path))
        return too_large(f"{self._name}:{shown}", limit)
