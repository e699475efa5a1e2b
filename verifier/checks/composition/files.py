"""The files of a tree against those of a composition (CHECKS "composition", steps 3 to 8).

Bytes are compared by digest and length. What differs is explained by the entry alone where it
can be: an earlier stage, or other line ends; only for the latter a file is read again.
"""

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Final

from verifier.catalog.entries.composition import Wanted
from verifier.checks.composition import told
from verifier.checks.composition.expected import Expected, Past, Scoped
from verifier.core.digest import sha256
from verifier.core.finding import Finding
from verifier.core.value import frozen
from verifier.sources.names import folded
from verifier.sources.tree import LINK_MODE, TreeEntry, Type
from verifier.sources.within import folders_above

#: Files that are read again to look for other line ends.
_LOOKED_INTO: Final = 50
_NOT_LOOKED_INTO: Final = f"other line ends were not tried: {_LOOKED_INTO} files before it differ"


@frozen
class Compared:
    """What comparing found. `stage` is the last one that explains every file, None if none does.

    `right` counts the files that are as the final stage leaves them, `retained` those of them
    that had to stay, `modes` those whose modes
    were compared and are equal, `other_modes` those that differ;
    `strangers` counts what is in the scope and not listed.
    """

    findings: tuple[Finding, ...]
    stage: int | None
    anything: bool
    in_scope: int
    right: int
    retained: int
    modes: int
    other_modes: int
    strangers: int


def compare(scoped: Scoped, wanted: Expected, read: Callable[[bytes], bytes | None]) -> Compared:
    """Compare the entries in the scope with what is wanted."""
    found = {entry.path: entry for entry in scoped.here}
    work = _Comparing(wanted, found, read, scoped.empty)
    work.compare_all()
    for path in sorted(wanted.deleted):
        work.compare_deleted(path)
    work.look_at_the_rest(scoped.near, scoped.beside)
    return work.done()


class _Comparing:
    def __init__(
        self,
        wanted: Expected,
        found: dict[bytes, TreeEntry],
        read: Callable[[bytes], bytes | None],
        empty: frozenset[bytes],
    ) -> None:
        self._wanted = wanted
        self._found, self._empty = found, empty
        self._read = read
        self._findings: list[Finding] = []
        #: For each path that stages change: the states that it is in, of several equal ones all.
        self._states: dict[bytes, list[Past]] = {}
        self._right = self._retained = self._looked_into = 0
        self._modes = self._other_modes = self._unknown_modes = self._unpinned_modes = 0
        self._in_the_way: set[bytes] = set()
        #: Files that are not there yet, if the tree stands at a stage; else they are missing.
        self._absent: list[bytes] = []

    def compare_all(self) -> None:
        """Compare every file that has to be there; most are right, and cost little."""
        found, special = self._found, self._wanted.histories.keys() | self._wanted.retained.keys()
        right = 0
        for path, file in self._wanted.files.items():
            entry = found.get(path)
            if (
                entry is not None
                and entry.type is Type.FILE
                and (entry.mode, entry.length, entry.sha256)
                == (file.mode, file.length, file.sha256)
                and path not in special
                and None not in (file.mode, file.sha256)
            ):
                right += 1
            else:
                self.compare(path, file)
        self._right += right
        self._modes += right

    def compare(self, path: bytes, file: Wanted) -> None:
        """Compare one file that has to be there."""
        entry = self._found.get(path)
        if entry is None:
            self._missing(path, file)
        elif entry.type is not (Type.LINK if file.mode == LINK_MODE else Type.FILE):
            self._findings.append(told.other_type(path, entry, file))
        elif entry.sha256 is None:
            self._findings.append(told.unread(path, file))
        elif entry.sha256 == file.sha256 and file.length in (None, entry.length):
            self._right += 1
            self._retained += path in self._wanted.retained
            if path in self._wanted.histories:
                self._remember(path, entry)
            self._compare_mode(path, entry, file)
        else:
            self._different(path, entry, file)

    def compare_deleted(self, path: bytes) -> None:
        """Compare one path that must not be there."""
        entry = self._found.get(path)
        states = self._remember(path, entry)
        if entry is None:
            return
        if states:
            self._findings.append(self._at_stage(path, entry))
        else:
            self._findings.append(told.not_deleted(path, entry))

    def look_at_the_rest(self, near: list[bytes], beside: Collection[tuple[bytes, bytes]]) -> None:
        """Look at what is there and not listed; `beside` lies below another name of the prefix."""
        files, others = self._wanted.files, self._wanted.deleted | self._in_the_way
        rest = [e for path, e in self._found.items() if path not in files and path not in others]
        if not rest and not near and not beside:
            return
        listed = {folded(folder): folder for path in files for folder in folders_above(path)}
        listed |= {folded(path): path for path in files}
        self._findings += [
            told.collision(path, listed[name]) for path in near if (name := folded(path)) in listed
        ]
        for path, inner in beside:
            if not inner or folded(inner) in listed:
                self._findings.append(
                    told.collision(path, listed.get(folded(inner), b"the prefix"))
                )
        compiled: list[bytes] = []
        for entry in rest:
            other = listed.get(folded(entry.path))
            if other is not None:
                self._findings.append(told.collision(entry.path, other))
            elif not self._wanted.listed:
                if entry.type is Type.SPECIAL:
                    self._findings.append(told.special(entry.path))
            elif _compiled(entry):
                compiled.append(entry.path)
            else:
                self._findings.append(told.unlisted(entry))
        if compiled:
            self._findings.append(told.bytecode(compiled))

    def done(self) -> Compared:
        """Say at which stage the tree stands, and what was compared."""
        stage = self._stage()
        self._findings += self._of_stages(stage)
        if self._unknown_modes:
            self._findings.append(told.unknown_modes(self._unknown_modes))
        if self._unpinned_modes:
            self._findings.append(told.unpinned_modes(self._unpinned_modes))
        names = self._wanted.files.keys() | self._wanted.deleted
        return Compared(
            findings=tuple(self._findings),
            stage=stage,
            anything=bool(self._in_the_way) or not names.isdisjoint(self._found),
            in_scope=len(self._found),
            right=self._right,
            retained=self._retained,
            modes=self._modes,
            other_modes=self._other_modes,
            strangers=len(self._found.keys() - self._wanted.files.keys()),
        )

    # ── one file ───────────────────────────────────────────────────────────────────────────

    def _missing(self, path: bytes, file: Wanted) -> None:
        for above in folders_above(path):
            entry = self._found.get(above)
            if entry is not None:
                if above not in self._in_the_way:
                    self._in_the_way.add(above)
                    self._findings.append(told.other_type(above, entry, None))
                return
        if path in self._folders:
            self._findings.append(told.a_folder(path))
        elif self._remember(path, None):
            self._absent.append(path)
        elif path in self._wanted.retained:
            row = self._wanted.retained[path]
            self._findings.append(told.not_retained(path, file, row, None))
        else:
            self._findings.append(told.missing(path, file))

    def _different(self, path: bytes, entry: TreeEntry, file: Wanted) -> None:
        states = self._remember(path, entry)
        if states:
            self._findings.append(self._at_stage(path, entry))
            return
        ends = self._other_line_ends(path, file)
        if ends is not None:
            self._findings.append(told.line_ends(path, entry, file, ends))
        elif path in self._wanted.retained:
            self._findings.append(told.not_retained(path, file, self._wanted.retained[path], entry))
        else:
            cause = None if self._looked_into <= _LOOKED_INTO else _NOT_LOOKED_INTO
            self._findings.append(told.changed(path, entry, file, cause))

    def _compare_mode(self, path: bytes, entry: TreeEntry, file: Wanted) -> None:
        if file.mode is None:
            self._unpinned_modes += 1
        elif entry.mode is None:
            self._unknown_modes += 1
        elif entry.mode == file.mode:
            self._modes += 1
        else:
            self._other_modes += 1
            self._findings.append(told.other_mode(path, entry.mode, file.mode))

    def _other_line_ends(self, path: bytes, file: Wanted) -> str | None:
        """Name the conversion and the stage whose pinned bytes it would have begun with."""
        self._looked_into += 1
        if self._looked_into > _LOOKED_INTO:
            return None
        data = self._read(path)
        if data is None:
            return None
        pasts = [past.file for past in self._wanted.histories.get(path, ()) if past.file]
        lf = data.replace(b"\r\n", b"\n")
        for made, name in ((lf, "CRLF"), (lf.replace(b"\n", b"\r\n"), "LF")):
            if made == data:
                continue
            digest = sha256(made)
            if any(p.sha256 == digest and p.length in (None, len(made)) for p in (file, *pasts)):
                other = "LF" if name == "CRLF" else "CRLF"
                final = "" if digest == file.sha256 else " of an earlier stage"
                return f"its line ends are {name}; with {other} it has the pinned digest{final}"
        return None

    # ── stages ─────────────────────────────────────────────────────────────────────────────

    def _remember(self, path: bytes, entry: TreeEntry | None) -> list[Past]:
        """Note the states of its history that a path is in, and return those."""
        states = [p for p in self._wanted.histories.get(path, ()) if is_state(entry, p.file)]
        if states:
            self._states[path] = states
        return states

    def _stage(self) -> int | None:
        if len(self._states) != len(self._wanted.histories):
            return None
        every = set(range(len(self._wanted.stages)))
        for states in self._states.values():
            every &= {n for past in states for n in range(past.first, past.end)}
        return max(every, default=None)

    def _of_stages(self, stage: int | None) -> Iterator[Finding]:
        """Say that the tree stands at an earlier stage, or at several.

        What is not there at all shows no stage, unless all else stands at it too.
        """
        final, wanted = self._wanted.final, self._wanted
        if stage is not None and stage < final:
            what = f"all {told.counted(len(self._states))} that stages change"
            yield told.earlier(wanted, stage, what)
            yield from (self._at_stage(path, None) for path in self._absent)
            return
        yield from (told.missing(path, wanted.files[path]) for path in self._absent)
        left = [states[-1] for path, states in self._states.items() if path not in self._absent]
        if any(past.end <= final for past in left):
            numbers = [final if past.end > final else past.first for past in left]
            yield told.mixed(wanted, numbers, len(wanted.histories) - len(left))

    def _at_stage(self, path: bytes, entry: TreeEntry | None) -> Finding:
        past = self._states[path][-1]
        return told.file_stage(path, entry, past, self._wanted)

    @cached_property
    def _folders(self) -> set[bytes]:
        above = {folder for path in self._found for folder in folders_above(path)}
        return above.union(self._empty, *map(folders_above, self._empty))


def is_state(entry: TreeEntry | None, file: Wanted | None) -> bool:
    """Whether what is there is a state that a file was in; a mode tells no stage."""
    if entry is None or file is None:
        return entry is None and file is None
    kind = Type.LINK if file.mode == LINK_MODE else Type.FILE
    same = entry.sha256 == file.sha256 and file.length in (None, entry.length)
    return same and entry.type is kind


def _compiled(entry: TreeEntry) -> bool:
    """Whether Python wrote the file beside a source; one in another place is loaded by itself."""
    folder, _, name = entry.path.rpartition(b"/")
    in_cache = folder.rpartition(b"/")[2] == b"__pycache__"
    return in_cache and name.endswith(b".pyc") and entry.type is Type.FILE
