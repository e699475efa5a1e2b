"""What a tree holds, and whether two trees are the same."""

from collections.abc import Callable
from datetime import UTC, datetime

from verifier.ask.answers import Listing
from verifier.ask.reading import Reach
from verifier.checks.tree_difference import compare, counted
from verifier.core.clock import print_time
from verifier.core.coverage import Covered, State
from verifier.core.digest import Digest
from verifier.core.errors import PinproofError, UnavailableError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import HOST_BYTES
from verifier.core.outcome import Failed, Outcome, Report, Result, Subject
from verifier.policy import judge
from verifier.sources.argument import Place, open_place
from verifier.sources.tree import Tree, TreeEntry, Type, tree_digests

_LISTED = frozenset({"content"})
_COMPARED = frozenset({"content", "modes"})
_MOST_LEFT_OUT = 4


def list_tree(source: str, *, reach: Reach | None = None, clock: datetime | None = None) -> Listing:
    """Read a tree whole: every entry with its digests, and the typed digests of the tree.

    `source` is a folder, `git:REPO@COMMIT[:PATH]`, `tar:FILE[:PATH]` or `zip:FILE[:PATH]`.
    """
    opened = _opened(source, reach)
    if isinstance(opened, Failed):
        return Listing(report=_report((opened,), clock))
    try:
        entries = _below(opened)
    except WrongCallError:
        raise
    except PinproofError as error:
        return Listing(report=_report((Failed.of(source, error),), clock))
    whole = _read_whole(opened.tree, entries)
    outcome = Outcome(
        kind="tree",
        identified=(),
        findings=opened.tree.findings,
        coverage=(
            Covered(
                facet="content",
                state=State.HELD if whole and entries else State.NOT_HELD,
                detail=counted(len(entries)),
            ),
        ),
        not_proven=(
            "that the tree is one that anybody pinned",
            *_unproven(opened.tree, entries),
        ),
    )
    own, without_modes = tree_digests(entries) if whole else (None, None)
    digests = (Digest(kind="tree", hex=own), *opened.tree.digests) if own else ()
    length = sum(entry.length or 0 for entry in entries) if whole else None
    subject = Subject(name=source, digests=digests, length=length)
    now = clock or datetime.now(UTC)
    result = judge(outcome, subject=subject, demanded=_LISTED, now=now)
    return Listing(
        report=_report((result,), clock),
        entries=tuple(entries),
        without_modes=without_modes,
        ignored=opened.tree.ignored,
    )


def diff_tree(
    left: str, right: str, *, reach: Reach | None = None, clock: datetime | None = None
) -> Report:
    """Compare two trees: verified if they are the same, rejected if not, with the causes."""
    places = [_opened(source, reach) for source in (left, right)]
    failed: list[Failed | Result] = [place for place in places if isinstance(place, Failed)]
    one, other = places
    if isinstance(one, Failed) or isinstance(other, Failed):
        return _report(tuple(failed), clock)
    sides: list[list[TreeEntry]] = []
    for source, place in ((left, one), (right, other)):
        try:
            sides.append(_below(place))
        except WrongCallError:
            raise
        except PinproofError as error:
            failed.append(Failed.of(source, error))
    if failed:
        return _report(tuple(failed), clock)
    known: tuple[Finding, ...] = (*one.tree.findings, *other.tree.findings)
    whole = _read_whole(one.tree, sides[0]) and _read_whole(other.tree, sides[1])
    something = any(sides)
    compared = (
        compare(sides[0], sides[1], _contents(one, other))
        if whole and something
        else _not_compared(State.NOT_HELD if whole else State.NOT_CHECKED)
    )
    outcome = Outcome(
        kind="diff",
        identified=(),
        findings=(*compared.findings, *known),
        coverage=compared.coverage,
        not_proven=tuple(
            dict.fromkeys(
                (
                    *compared.not_proven,
                    *_unproven(one.tree, sides[0], modes=False),
                    *_unproven(other.tree, sides[1], modes=False),
                    *_left_out("first", one.tree),
                    *_left_out("second", other.tree),
                )
            )
        ),
    )
    common = {tree_digests(side)[0] for side in sides} if whole and something else set()
    digests = tuple(Digest(kind="tree", hex=digest) for digest in common)
    subject = Subject(name=f"{left} and {right}", digests=digests if len(common) == 1 else ())
    now = clock or datetime.now(UTC)
    return _report((judge(outcome, subject=subject, demanded=_COMPARED, now=now),), clock)


def _read_whole(tree: Tree, entries: list[TreeEntry]) -> bool:
    """Whether all was listed, every byte was read, and nothing of the container was refused."""
    refused = any(finding.row.outcome == "rejected" for finding in tree.findings)
    unread = any(e.sha256 is None and e.type is not Type.GITLINK for e in entries)
    return tree.complete and not refused and not unread


def _not_compared(state: State) -> Outcome:
    """Return the outcome where a side was not read whole, or neither holds anything."""
    coverage = tuple(Covered(facet=f, state=state) for f in ("content", "modes"))
    return Outcome(kind="diff", identified=(), findings=(), coverage=coverage)


def _unproven(tree: Tree, entries: list[TreeEntry], *, modes: bool = True) -> tuple[str, ...]:
    """Return what reading a tree does not prove, in words."""
    said = list(tree.not_proven)
    submodules = sum(entry.type is Type.GITLINK for entry in entries)
    if submodules:
        said.append(f"what the commits of submodules hold ({submodules:,}): they were not read")
    unknown = sum(entry.type is Type.FILE and entry.mode is None for entry in entries)
    if unknown and modes:
        files = "1 file: its" if unknown == 1 else f"{unknown:,} files: their"
        said.append(f"the modes of {files} format carries none, 100644 is assumed")
    return tuple(said)


def _left_out(side: str, tree: Tree) -> tuple[str, ...]:
    """Say what a side holds beyond what was compared."""
    shown = "; ".join(tree.ignored[:_MOST_LEFT_OUT])
    more = len(tree.ignored) - _MOST_LEFT_OUT
    rest = f"; {more:,} more" if more > 0 else ""
    return (f"what was left out of the {side}: {shown}{rest}",) if shown else ()


def _below(place: Place) -> list[TreeEntry]:
    """Return what the path that was named holds, paths relative to it; of a file, itself.

    Raises `UnavailableError` if the tree was read and has no such path.
    """
    entries = place.tree.entries()
    if place.inside is None:
        return entries
    prefix = place.inside + b"/"
    found = [
        entry._replace(path=entry.path.removeprefix(prefix))
        for entry in entries
        if entry.path.startswith(prefix)
    ]
    found = found or [
        entry._replace(path=entry.path.rpartition(b"/")[2])
        for entry in entries
        if entry.path == place.inside
    ]
    if not found and place.tree.complete:
        raise UnavailableError(
            f"{place.tree.name}: nothing of that path is in it",
            code="cannot-read",
            remedy="list the tree without the path to see what it holds",
        )
    return found


def _contents(one: Place, other: Place) -> Callable[[bytes], tuple[bytes | None, bytes | None]]:
    def read(path: bytes) -> tuple[bytes | None, bytes | None]:
        return _read(one.tree, one.inside, path), _read(other.tree, other.inside, path)

    return read


def _read(tree: Tree, inside: bytes | None, path: bytes) -> bytes | None:
    # What was named may be the file itself, and not a folder that holds it.
    names = (path,) if inside is None else (inside + b"/" + path, inside)
    try:
        found = (tree.read(name, limit=HOST_BYTES) for name in names)
        return next((data for data in found if data is not None), None)
    except PinproofError:
        return None


def _opened(source: str, reach: Reach | None) -> Place | Failed:
    reach = reach or Reach()
    try:
        return open_place(
            source, whole=True, clones=reach.clones, allow_alternates=reach.allow_alternates
        )
    except WrongCallError:
        raise
    except PinproofError as error:
        return Failed.of(source, error)


def _report(results: tuple[Result | Failed, ...], clock: datetime | None) -> Report:
    now = clock or datetime.now(UTC)
    return Report(
        effective_time=print_time(now),
        past_time=False,
        registry=None,
        policy=None,
        results=results,
    )
