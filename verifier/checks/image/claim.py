"""What `docker image inspect` printed against a pin: it can contradict or agree (step 4).

A daemon's answer is no evidence of bytes: nothing here is ever held.
"""

from collections.abc import Iterator
from typing import Final

from verifier.catalog.entries.image import WHOLE, ImageEntry
from verifier.checks.image import Asked
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.digest import Digest
from verifier.core.finding import Finding
from verifier.core.outcome import GraphNode, Outcome
from verifier.sources.image.claim import Claim

_REMEDY: Final = (
    "save the image (`docker save`, `skopeo copy … oci-archive:FILE`) and verify the file"
)
_STORES: Final = (
    "an Id is the configuration's digest under Docker's classic store and the manifest's under its "
    "containerd store, so that one image has two"
)


def check(claim: Claim, asked: Asked) -> Outcome:
    """Compare a claim with a digest, an entry, or every entry that it leads to."""
    finding = _finding(claim, asked)
    says_no = finding.row.outcome == "rejected"
    state = State.NOT_HELD if says_no else State.NOT_CHECKED
    return Outcome(
        kind="image",
        identified=(),
        findings=(finding,),
        coverage=tuple(
            Covered(facet=facet, state=state if facet == "expected" else State.NOT_CHECKED)
            for facet in FACETS["image"]
        ),
        not_proven=("anything: a daemon said it, and no byte of the image was read",),
        graph=(GraphNode(kind="claim", detail="docker image inspect", below=tuple(_drawn(claim))),),
    )


def _finding(claim: Claim, asked: Asked) -> Finding:
    if asked.platform and claim.platform and not claim.platform.is_as(asked.platform):
        return _contradicts(str(asked.platform), str(claim.platform), None)
    if asked.digest is not None:
        return _of_digest(claim, asked.digest, asked.known)
    entries = (asked.entry,) if asked.entry else asked.known
    for entry in entries:
        agrees = _agrees(claim, entry)
        if agrees is not None:
            return agrees
    if asked.entry is not None:
        return _of_entry(claim, asked.entry)
    return _only("an image of the registry", _said(claim), "no entry has one of these digests")


def _of_digest(claim: Claim, asked: Digest, known: tuple[ImageEntry, ...]) -> Finding:
    """Compare with a typed digest; a digest of another kind says neither yes nor no."""
    for digest in claim.typed:
        if digest == asked:
            return _only(str(asked), f"the same, as {digest.kind}", None)
        if digest.hex == asked.hex:
            return _only(str(asked), f"the same digest, as {digest.kind}", _STORES)
    if asked.hex in claim.untyped:
        return _only(str(asked), "the same digest, of a kind that is not said", None)
    for digest in claim.typed:
        if digest.kind == asked.kind:
            return _contradicts(str(asked), str(digest), None)
    for entry in known:
        if entry.diff_ids and claim.diff_ids and entry.diff_ids != claim.diff_ids:
            return _contradicts(f"the diff-ids of {entry.name}", "other diff-ids", None)
    return _only(str(asked), _said(claim), f"none of them is of kind {asked.kind}; {_STORES}")


def _agrees(claim: Claim, entry: ImageEntry) -> Finding | None:
    for digest in claim.typed:
        if digest.hex in {pin.sha256 for pin in entry.of(digest.kind or "")}:
            return _only(entry.name, f"its {digest.kind}", None)
    whole = {pin.sha256: kind for kind in WHOLE for pin in entry.of(kind)}
    for digits in claim.untyped:
        if digits in whole:
            return _only(entry.name, f"the digest of its {whole[digits]}", None)
    return None


def _of_entry(claim: Claim, entry: ImageEntry) -> Finding:
    if entry.diff_ids and claim.diff_ids and entry.diff_ids != claim.diff_ids:
        return _contradicts(f"the {len(entry.diff_ids)} diff-ids of {entry.name}", "others", None)
    if entry.diff_ids and entry.diff_ids == claim.diff_ids:
        return _only(entry.name, "its diff-ids, under digests that are not registered", _STORES)
    for digest in claim.typed:
        pins = [pin.sha256 for pin in entry.of(digest.kind or "")]
        if pins:
            wanted = f"{digest.kind}:sha256:{pins[0]} of {entry.name}"
            return _contradicts(wanted, str(digest), None)
    return _only(entry.name, _said(claim), f"the entry pins nothing of these kinds; {_STORES}")


def _said(claim: Claim) -> str:
    told = [str(digest) for digest in claim.typed]
    told += [f"sha256:{digits} of a kind that is not said" for digits in claim.untyped]
    return ", ".join(told)


def _only(expected: str, got: str, cause: str | None) -> Finding:
    return Finding(code="image-claim-only", expected=expected, got=got, cause=cause, remedy=_REMEDY)


def _contradicts(expected: str, got: str, cause: str | None) -> Finding:
    return Finding(
        code="image-claim-contradicts",
        expected=expected,
        got=f"{got}, as Docker says",
        cause=cause,
        remedy="pull the pinned image by its manifest digest; do not start this one",
    )


def _drawn(claim: Claim) -> Iterator[GraphNode]:
    for digest in claim.typed:
        yield GraphNode(kind=digest.kind or "", digest=digest, detail="said, not computed")
    for digits in claim.untyped:
        yield GraphNode(
            kind="digest", digest=Digest(kind=None, hex=digits), detail="said, not computed"
        )
    if claim.diff_ids:
        yield GraphNode(kind="diff-ids", detail=f"{len(claim.diff_ids)}, said, not computed")
