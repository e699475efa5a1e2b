"""Inside an image: the checks of helpers and compositions, on its merged root.

Nothing is checked here: a path of the root becomes what `ask.helper` and `ask.composition` judge
of any file and any tree. What only an image has is added: which layer brought a file or hid it,
which links lead to it, and where runtimes differ.
"""

import os
from collections.abc import Iterable
from dataclasses import replace

from verifier.ask import composition, helper
from verifier.ask.reading import Reading
from verifier.ask.trusted import Trust
from verifier.core.coverage import Covered, State
from verifier.core.errors import PinproofError, UnavailableError, WrongCallError
from verifier.core.finding import Finding, Where
from verifier.core.limits import BYTECODE_BYTES, HOST_BYTES
from verifier.core.outcome import Failed, Result
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.core.verdict import Verdict
from verifier.sources.argument import inside
from verifier.sources.beside import companions_in
from verifier.sources.file import FileBytes
from verifier.sources.image.graph import Graph
from verifier.sources.image.layers import refuse_too_many
from verifier.sources.image.root import MergedRoot, Resolved
from verifier.sources.image.rooted import merged
from verifier.sources.tree import Type


def helper_inside(
    root: MergedRoot,
    path: str,
    *,
    trust: Trust,
    lineage: str | None = None,
    expect: str | None = None,
) -> tuple[Result | Failed, ...]:
    """Judge one host file of a merged root, with what lies beside it there.

    `path` counts from the root, with or without a slash in front. `lineage` and `expect` are as
    in `verify_helper`.

    Raises `WrongCallError` if the policy demands nothing of helpers, `path` is not written
    plainly, or `lineage` or `expect` is not registered.
    """
    asked = _path(path)
    name = f"{root.name}:/{printable(os.fsdecode(asked))}"
    try:
        reading = _reading(root, asked, name)
    except WrongCallError:
        raise
    except PinproofError as error:
        return (Failed.of(name, error),)
    results = helper.judged(name, reading, trust=trust, lineage=lineage, expect=expect)
    return tuple(_placed(result, root, asked) for result in results)


def composition_inside(
    root: MergedRoot, name: str, *, trust: Trust, prefix: str = ""
) -> tuple[Result | Failed, ...]:
    """Judge the merged root by a composition whose paths begin at the folder `prefix`.

    Raises `WrongCallError` as `verify_composition` does.
    """
    below = _path(prefix) if prefix.strip("/") else b""
    shown = f"{root.name}:/{printable(os.fsdecode(below))}"
    place = root.resolve_folder(below)
    if place is None:
        return (Failed.of(shown, _nowhere(shown)),)

    def told(paths: Iterable[bytes]) -> tuple[Finding, ...]:
        at = [place.path + b"/" + path if place.path else path for path in paths]
        moved = _redirected(place, below, [path for path in at if root.moved(path)])
        return (*moved, *_overlaid(root))

    result = composition.judged_in(
        root, name, below=place.path, about=shown, trust=trust, findings=told
    )
    if isinstance(result, Failed):
        return (result,)
    told_of = tuple(_with_layer(each, root, place.path) for each in result.findings)
    through = tuple(f"that nothing is mounted over {_shown(link)}" for link in place.links)
    return (replace(result, findings=told_of, not_proven=(*result.not_proven, *through)),)


@frozen
class Inside:
    """What is asked of the files in an image.

    `path` is one host file, judged by the `helper` lineage, or by all that it mentions if that is
    None. `composition` is judged below the folder `prefix`.
    """

    path: str | None = None
    helper: str | None = None
    composition: str | None = None
    prefix: str = ""

    def __bool__(self) -> bool:
        """Whether anything is asked.

        Raises `WrongCallError` for half a question.
        """
        if self.helper is not None and self.path is None:
            raise WrongCallError(
                "--helper: it is not said which file of the image is meant",
                code="wrong-call",
                remedy="add --path with the file's path in the image, such as app/module.py",
            )
        if self.prefix and self.composition is None:
            raise WrongCallError(
                "--prefix: it is not said which composition begins there",
                code="wrong-call",
                remedy="add --composition with its name; pinproof list shows the names",
            )
        return self.path is not None or self.composition is not None


def judged_inside(
    graph: Graph, asked: Inside, *, name: str, trust: Trust
) -> tuple[tuple[Result | Failed, ...], dict[str, Covered]]:
    """Judge what is asked of every image of a graph that was read.

    Returns the results, and what they say of the facets of the image itself. Raises
    `UnavailableError` if its layers have more members together than are merged.
    """
    results: list[Result | Failed] = []
    found: dict[str, list[Result | Failed]] = {}
    coverage: dict[str, Covered] = {}
    images = graph.images()
    found_in = [layer.found for image in images for layer in image.layers if layer.found]
    refuse_too_many(sum(len(layer.members) for layer in found_in), name)
    for image in images:
        platform = image.config.platform if image.config else None
        shown = f"{name} ({platform})" if len(images) > 1 and platform else name
        root = merged(graph, image, name=shown)
        if root is None:
            continue
        files = root_files(root)
        if coverage.get("root-files") is None or not files.state.holds:
            coverage["root-files"] = files
        if asked.path is not None:
            judged = helper_inside(root, asked.path, trust=trust, lineage=asked.helper)
            found.setdefault("helper", []).extend(judged)
        if asked.composition is not None:
            judged = composition_inside(root, asked.composition, trust=trust, prefix=asked.prefix)
            found.setdefault("composition", []).extend(judged)
    for facet, about in found.items():
        coverage[facet] = covered(facet, about)
        results += about
    if not results:
        results.append(Failed.of(name, _nothing(name)))
    return tuple(results), coverage


def _nothing(name: str) -> UnavailableError:
    return UnavailableError(
        f"{name}: no image of it could be read with all of its layers",
        code="cannot-read",
        remedy="see what is said of the image itself; copy it with all of its layers",
    )


def covered(facet: str, results: Iterable[Result | Failed]) -> Covered:
    """Say of a facet of the image whether all that was asked of its inside is verified."""
    every = tuple(results)
    verified = all(isinstance(r, Result) and r.verdict is Verdict.VERIFIED for r in every)
    detail = "; ".join(result.subject.name for result in every)
    state = State.HELD if every and verified else State.NOT_HELD
    return Covered(facet=facet, state=state, detail=detail)


def root_files(root: MergedRoot) -> Covered:
    """Say whether every file of the root is known, with its digest and its layer."""
    sound = root.complete and all(f.row.outcome != "rejected" for f in root.findings)
    settled = sound and not _overlaid(root)
    settled = settled and all(f.row.facet not in ("root-files", "input") for f in root.findings)
    files = sum(entry.type is Type.FILE for entry in root.entries())
    return Covered(
        facet="root-files",
        state=State.HELD if settled and files else State.NOT_HELD,
        detail=f"{files:,} {'file' if files == 1 else 'files'} in the merged root",
    )


# ── one file ───────────────────────────────────────────────────────────────────────────────────


def _path(written: str) -> bytes:
    path = inside(written.removeprefix("/"))
    if path is None:
        raise WrongCallError(
            "--path: expected a path inside the image, got nothing",
            code="wrong-call",
            remedy="write the path of one file in it, such as app/module.py",
        )
    return path


def _reading(root: MergedRoot, asked: bytes, name: str) -> Reading:
    """Read a path as a runtime would, but for a link or device in its own place."""
    place = root.resolve(asked)
    if place is None:
        raise _nowhere(name)
    moved = _redirected(place, asked, [place.path] if place.moved else [])
    findings = (*root.findings, *moved, *_overlaid(root))
    entry = root.entry(place.path)
    if entry is None:
        hidden = _hidden(root, place.path)
        if hidden is None and root.complete:
            raise _nowhere(name)
        return Reading(None, (*findings, *((hidden,) if hidden else ())), root.not_proven)
    if entry.type is not Type.FILE:
        got = "a special file" if entry.target is None else f"a link to {_shown(entry.target)}"
        wrong = Finding(
            code="image-path-not-file",
            where=Where(path=_shown(place.path)),
            expected="a regular file",
            got=got,
            cause=f"brought by {root.origin(place.path)}",
            remedy="name the file that is meant by its own path; a link is not followed",
        )
        return Reading(None, (*findings, wrong), root.not_proven)
    data = root.read(place.path, limit=HOST_BYTES)
    if data is None:
        raise _nowhere(name)
    beside = companions_in(
        place.path,
        names=root.names,
        compiled=lambda path: _compiled(root, path),
        mtime=root.changed_at(place.path),
        size=len(data),
    )
    return Reading(FileBytes(name=name, data=data), findings, root.not_proven, beside)


def _redirected(place: Resolved, asked: bytes, moved: list[bytes]) -> tuple[Finding, ...]:
    paths = moved or ([asked] if place.moved else [])
    return tuple(
        Finding(
            code="image-path-redirected",
            where=Where(path=_shown(path)),
            expected="a path that every runtime puts in the same place",
            got=f"one led through the link {_shown(place.links[-1])}"
            if place.links
            else "one that a link of a lower layer led there",
            cause="some runtimes follow a directory link of a lower layer when they unpack, others "
            "put a folder in its place",
            remedy="build the image anew so that its layer names the real folder",
        )
        for path in paths
    )


def _overlaid(root: MergedRoot) -> tuple[Finding, ...]:
    """Make attributes of overlay file systems count: they move and hide what no layer says."""
    found = next((f for f in root.findings if f.code == "layer-overlay-attribute"), None)
    if found is None:
        return ()
    overlaid = Finding(
        code="image-path-redirected",
        where=found.where,
        expected="members without attributes of overlay file systems",
        got=found.got,
        cause=f"{found.cause}; runtimes that keep it hide or redirect files of lower layers",
        remedy="build the image anew from what the overlay file system shows, without its "
        "attributes",
    )
    return (overlaid,)


def _hidden(root: MergedRoot, path: bytes) -> Finding | None:
    """Say which layer took away what a lower one brought."""
    brought, hidden = root.history(path)
    if brought is None or hidden is None or hidden.number < brought.number:
        return None
    return Finding(
        code="image-path-hidden",
        where=Where(path=_shown(path)),
        expected=f"the file that {brought} brought",
        got="nothing",
        cause=f"hidden by {hidden}",
        remedy="do not run the image for what the file should do; ask its publisher for one that "
        "has it",
    )


def _compiled(root: MergedRoot, path: bytes) -> bytes | None:
    place = root.resolve(path)
    try:
        return root.read(place.path, limit=BYTECODE_BYTES) if place else None
    except PinproofError:
        return None


# ── what only an image has to say ──────────────────────────────────────────────────────────────


def _placed(result: Result, root: MergedRoot, asked: bytes) -> Result:
    """Add to a judged file which layer brought it, and through which links it was reached."""
    place = root.resolve(asked)
    origin = root.origin(place.path) if place else None
    if place is None or origin is None:
        return result
    said = f"brought by {origin}"
    if place.links:
        said += f", as {_shown(place.path)} through {', '.join(map(_shown, place.links))}"
    coverage = tuple(
        replace(each, detail=f"{each.detail}, {said}" if each.detail else said)
        if each.facet == "helper"
        else each
        for each in result.coverage
    )
    return replace(result, coverage=coverage)


def _with_layer(finding: Finding, root: MergedRoot, below: bytes) -> Finding:
    """Add to a finding of a composition which layer brought its path, or took it away."""
    if finding.where.path is None or not finding.code.startswith("composition-"):
        return finding
    path = os.fsencode(finding.where.path)
    path = below + b"/" + path if below else path
    origin = root.origin(path)
    hidden = None if origin else _hidden(root, path)
    said = f"brought by {origin}" if origin else hidden.cause if hidden else None
    if said is None:
        return finding
    return replace(finding, cause=f"{finding.cause}; {said}" if finding.cause else said)


def _nowhere(name: str) -> UnavailableError:
    return UnavailableError(
        f"{name}: there is no regular file or folder of that path",
        code="cannot-read",
        remedy="check the path; it counts from the root of the image",
    )


def _shown(path: bytes) -> str:
    return printable(os.fsdecode(path))
