"""Objects that are what their ids say: sizes first, then contents, every one hashed.

The order is the defence (CHECKS, "git reader"): git is asked for type and size before anything
is inflated, then for the contents of what is not too large, and every content is hashed with
the header that git's ids cover. A wrong hash is a fault of that object; a git that dies or says
something unasked costs that one object, and another git goes on behind it.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from verifier.core.limits import GIT_DEATHS
from verifier.sources.git.objects import Fault, hasher
from verifier.sources.git.process import BrokenAnswerError, Channel, Header

_DAMAGED: Final = "damaged or unreadable where it is stored"


class Want(NamedTuple):
    """An object, the type its tree says it is, the size at which it is refused.

    `keep` asks for the bytes; without it they are only hashed.
    """

    oid: str
    kind: str | None
    limit: int
    keep: bool


class Got(NamedTuple):
    """An object that hashes to its id, or the fault for which it is not used."""

    oid: str
    kind: str = ""
    size: int = 0
    sha256: str | None = None
    data: bytes | None = None
    fault: Fault | None = None


class Reader:
    """Reads through one channel. It keeps no object."""

    def __init__(self, channel: Channel, hex_length: int) -> None:
        """Read ids of `hex_length` digits."""
        self._channel, self._hex_length = channel, hex_length
        self._deaths = 0
        self._sizes: dict[str, Header] = {}

    def read(self, wants: Sequence[Want]) -> Iterator[Got]:
        """Read objects; first come those that are refused unread, then the rest in order."""
        self._sizes.clear()
        ready: list[Want] = []
        for want, got in zip(wants, self._each("info", wants, self._checked), strict=True):
            if got.fault is None:
                ready.append(want)
            else:
                yield got
        yield from self._each("contents", ready, self._hashed)

    def one(self, want: Want) -> Got:
        """Read one object."""
        (got,) = self.read([want])
        return got

    def _each(
        self, verb: str, wants: Sequence[Want], take: Callable[[Want, Header | None], Got]
    ) -> Iterator[Got]:
        """Ask about all, in order; go on with the next where git breaks off."""
        at = 0
        try:
            while at < len(wants):
                if self._deaths >= GIT_DEATHS:
                    break
                try:
                    for header in self._channel.answers(verb, [want.oid for want in wants[at:]]):
                        got = take(wants[at], header)
                        at += 1
                        yield got
                except BrokenAnswerError as error:
                    self._channel.kill()
                    self._deaths += 1
                    broken = self._broken(wants[at], slow=error.slow)
                    at += 1
                    yield broken
        finally:
            if at < len(wants):  # what was asked and is not taken would answer the next question
                self._channel.kill()
        yield from (_corrupt(want.oid, "not read: git died too often") for want in wants[at:])

    def _checked(self, want: Want, header: Header | None) -> Got:
        if header is None:
            return Got(want.oid, fault=self._absent(want.oid))
        if want.kind not in (None, header.kind):
            said = f"{want.oid} is a {header.kind}, not a {want.kind}"
            return Got(want.oid, header.kind, fault=Fault("git-object-type", said))
        if header.size > want.limit:
            said = f"{header.kind} {want.oid} has {header.size:,} bytes; {want.limit:,} are read"
            return Got(want.oid, fault=Fault("git-object-large", said))
        self._sizes[want.oid] = header
        return Got(want.oid)

    def _hashed(self, want: Want, header: Header | None) -> Got:
        if header is None or header != self._sizes[want.oid]:
            raise BrokenAnswerError
        kind, size = header
        named, content = hasher(kind, size, self._hex_length), hashlib.sha256()
        kept: list[bytes] = []
        for piece in self._channel.pieces(size):
            named.update(piece)
            content.update(piece)
            if want.keep:
                kept.append(bytes(piece))
        self._channel.end()
        if named.hexdigest() != want.oid:
            said = f"what is stored as {kind} {want.oid} hashes to {named.hexdigest()}"
            return Got(want.oid, fault=Fault("git-object-forged", said))
        data = b"".join(kept) if want.keep else None
        return Got(want.oid, kind, size, content.hexdigest(), data)

    def _absent(self, oid: str) -> Fault:
        """Tell an object that is not there from one that git cannot open."""
        said = self._channel.complaints()
        if oid.encode() in said or b"pack" in said:
            return Fault("git-object-corrupt", f"{oid}: {_DAMAGED}")
        return Fault("git-object-missing", oid)

    def _broken(self, want: Want, *, slow: bool) -> Got:
        if slow:
            return _corrupt(want.oid, "git gave no answer in time")
        if b"emory" in self._channel.complaints():
            said = f"{want.oid}: git ran out of the memory that it is given"
            return Got(want.oid, fault=Fault("git-object-large", said))
        return _corrupt(want.oid, _DAMAGED)


def _corrupt(oid: str, why: str) -> Got:
    return Got(oid, fault=Fault("git-object-corrupt", f"{oid}: {why}"))
