"""Be pinproof with one safeguard of its git reader left out: `python git_without.py WHAT ARGS…`.

What a safeguard costs is the difference to the same process with all of them. The answer of such
a run is worth nothing; only its time is.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final

from verifier.cli import run
from verifier.sources.git import blobs as git_blobs
from verifier.sources.git import reader as git_reader
from verifier.sources.git.process import Header
from verifier.sources.git.strict import Strict


class _Any(str):
    """A digest that is never another than expected."""

    __slots__ = ()

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


class _NoHash:
    """A hash that does no work."""

    def update(self, data: object) -> None:
        """Take it."""

    def hexdigest(self) -> str:
        return _Any("0" * 64)


def _sizes() -> None:
    def read(self: git_reader.Reader, wants: Sequence[git_reader.Want]) -> Iterator[git_reader.Got]:
        def take(want: git_reader.Want, header: Header | None) -> git_reader.Got:
            assert header is not None
            self._sizes[want.oid] = header
            return self._hashed(want, header)

        yield from self._each("contents", wants, take)

    _replace(git_reader.Reader, read=read)


def _ids() -> None:
    _replace(git_reader, hasher=lambda *_: _NoHash())


def _sha256() -> None:
    _replace(git_reader, hashlib=SimpleNamespace(sha256=_NoHash))


def _strict() -> None:
    _replace(Strict, start=lambda *_: None)


def _second() -> None:
    _replace(git_blobs, _WORTH_TWO=sys.maxsize)


def _replace(what: Any, **names: Any) -> None:
    for name, value in names.items():
        assert hasattr(what, name), name
        setattr(what, name, value)


#: What can be left out. The last is no safeguard: it is how the time of the others is won back.
LEFT_OUT: Final[Mapping[str, Sequence[Callable[[], None]]]] = {
    "nothing": (),
    "sizes asked before contents": (_sizes,),
    "ids computed here": (_ids,),
    "SHA-256 of contents": (_sha256,),
    "index-pack --fsck-objects": (_strict,),
    "all four": (_sizes, _ids, _sha256, _strict),
    "the second git": (_second,),
}

if __name__ == "__main__":
    for leave_out in LEFT_OUT[sys.argv[1]]:
        leave_out()
    del sys.argv[1]
    run()
