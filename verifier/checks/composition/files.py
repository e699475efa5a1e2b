"""The files of a tree against those of a composition (CHECKS "composition", steps 3 to 8).

Bytes are compared by digest and length. What differs is explained by the entry alone where it
can be: an earlier stage, or other line ends; only for the latter a file is read again.
"""

from collections.abc import Callable, Iterator
from typing import Final

from verifier.catalog.entries.composition import Wanted
from verifier.checks.composition import told
from verifier.checks.composition.expected import Expected, Past
from verifier.core.digest import sha256
from verifier.core.finding import Finding
from verifier.core.value import frozen
from verifier.sources.names import folded
from verifier.sources.tree import LINK_MODE, TreeEntry, Type
from verifier.sources.within import folders_above

#: Files that are read again to look for other line ends.
_LOOKED_INTO: Final = 50


@frozen
class Compared:
    """What comparing found. `stage` is the last one that explains every file, None if none does.

    `right` counts the files that are as the final stage leaves them, `retained` those of them
    that had to stay, `modes` those whose modes
    were compared and are equal, `other_modes` those that differ, `unread` those without bytes;
    `left_over` counts paths that a stage deletes and that are there.
    """

    findings: tuple[Finding, ...]
    stage: int | None
    anything: bool
    in_scope: int
    right: int
    retained: int
    modes: int
    other_modes: int
    unread: int
    left_over: int


def compare(
    here: list[TreeEntry], wanted: Expected, read: Callable[[bytes], bytes | None]
) -> Compared:
    """Compare the entries in the scope with what is wanted."""
    found = {entry.path: entry for entry in here}
    work = _Comparing(wanted, found, read)
    for path, file in wanted.files.items():
        work.compare(path, file)
    for path in sorted(wanted.deleted):
        work.compare_deleted(path)
    work.look_at_the_rest()
    return work.done()


class _Comparing:
    def __init__(
        self,
        wanted: Expected,
        found: dict[bytes, TreeEntry],
        read: Callable[[bytes], bytes | None],
    ) -> None:
        self._wanted = wanted
        self._found = found
        self._read = read
        self._findings: list[Finding] = []
        #: For each path that stages change: the states that it is in, of several equal ones all.
        self._states: dict[bytes, list[Past]] = {}
        self._right = self._retained = self._unread = self._looked_into = 0
        self._left_over = 0
        self._modes = self._other_modes = self._unknown_modes = self._unpinned_modes = 0
        self._in_the_way: set[bytes] = set()

    def compare(self, path: bytes, file: Wanted) -> None:
        """Compare one file that has to be there."""
        entry = self._found.get(path)
        if entry is None:
            self._missing(path, file)
        elif entry.type is not (Type.LINK if file.mode == LINK_MODE else Type.FILE):
            self._findings.append(told.other_type(path, entry, file))
        elif entry.sha256 is None:
            self._unread += 1
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
        self._left_over += 1
        if states:
            self._findings.append(self._at_stage(path, states, "nothing"))
        else:
            self._findings.append(told.not_deleted(path, entry))

    def look_at_the_rest(self) -> None:
        """Look at what is there and not listed."""
        known = self._wanted.files.keys() | self._wanted.deleted | self._in_the_way
        rest = [entry for path, entry in self._found.items() if path not in known]
        if not rest:
            return
        listed = {folded(path): path for path in self._wanted.files}
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
            unread=self._unread,
            left_over=self._left_over,
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
        states = self._remember(path, None)
        if states:
            self._findings.append(self._at_stage(path, states, told.pinned(file)))
        elif path in self._wanted.retained:
            self._findings.append(told.not_retained(path, file, self._wanted.retained[path], None))
        else:
            self._findings.append(told.missing(path, file))

    def _different(self, path: bytes, entry: TreeEntry, file: Wanted) -> None:
        states = self._remember(path, entry)
        if states:
            self._findings.append(self._at_stage(path, states, told.pinned(file)))
            return
        ends = self._other_line_ends(path, file)
        if ends is not None:
            self._findings.append(told.line_ends(path, entry, file, ends))
        elif path in self._wanted.retained:
            self._findings.append(told.not_retained(path, file, self._wanted.retained[path], entry))
        else:
            self._findings.append(told.changed(path, entry, file))

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
        if self._looked_into >= _LOOKED_INTO:
            return None
        self._looked_into += 1
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
        states = [p for p in self._wanted.histories.get(path, ()) if _is(entry, p.file)]
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
        """Say that the tree stands at an earlier stage, or at several."""
        final = self._wanted.final
        last = [max(past.end for past in states) - 1 for states in self._states.values()]
        behind = [number for number in last if number < final]
        if not behind:
            return
        if stage is not None:
            what = f"all {told.counted(len(last))} that stages change"
            yield told.earlier(self._wanted, stage, what)
            return
        if all(entry is None for entry in map(self._found.get, self._states)):
            return
        yield told.mixed(self._wanted, last, len(self._wanted.histories) - len(last))

    def _at_stage(self, path: bytes, states: list[Past], wants: str) -> Finding:
        return told.file_stage(path, states[-1], wants, self._wanted.stages)


def _is(entry: TreeEntry | None, file: Wanted | None) -> bool:
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
