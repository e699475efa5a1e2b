"""What reading an image has found wrong so far, with the remedy for each code."""

from collections.abc import Iterable
from typing import Final

from verifier.core.finding import Finding, Where
from verifier.core.printable import printable

_SHOWN: Final = 10
_AGAIN: Final = "copy the image again from its container registry by the pinned digest"
_BUILDER: Final = "ask the image's builder for one that does not contradict itself"
_REMEDIES: Final = {
    "image-blob-missing": "copy all of the image again, `skopeo copy --all` for every platform",
    "image-part-link": "copy the layout with its links resolved (`cp -rL`), or name another copy",
    "image-algorithm": "have the image pushed with sha256 digests",
    "image-urls": "have those layers stored with the image, then pin and verify it anew",
    "image-schema": "have the image converted to image manifest version 2 or OCI, then pin it",
    "image-layout": "name an OCI layout as oci:DIR or oci-archive:FILE, another as what it is",
    "image-layer-type": "have the layer stored as a plain tar, or in gzip or zstd",
    "image-layer-unread": "look at the tree- findings of that layer; build the layer anew",
    "image-artifact": "name the image that it is about; pinproof verify image judges images",
    "image-artifact-claim": _BUILDER,
    "image-empty": "name a layout that holds an image",
    "image-no-ref": "give one of the names that are there, or leave it out",
    "image-document-large": _BUILDER,
    "image-json": _BUILDER,
    "image-duplicate-key": _BUILDER,
    "image-key-case": _BUILDER,
    "image-both-shapes": _BUILDER,
    "image-subject": "name the image itself; this is something about it, such as a signature",
    "image-too-deep": _BUILDER,
    "image-two-images": "load neither; ask whoever made the archive for one that holds one image",
    "image-repositories": "load it by the tags of manifest.json, or have it saved anew",
    "image-name-digest": "load it not; ask whoever made the archive to save it anew",
    "image-ref-twice": "name the image by its digest, and have the layout made anew",
    "image-unreferenced": "nothing, if you know that they are left over; `umoci gc` removes them",
}


class Notes:
    """Findings of one reading, each once."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._found: dict[Finding, None] = {}

    def add(
        self,
        code: str,
        where: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        cause: str | None = None,
    ) -> None:
        """Write one finding down; `where` is the document or blob that it is about."""
        finding = Finding(
            code=code,
            where=Where(path=printable(where)),
            expected=None if expected is None else printable(expected),
            got=None if got is None else printable(got),
            cause=cause,
            remedy=_REMEDIES.get(code, _AGAIN),
        )
        self._found[finding] = None

    def take(self, findings: tuple[Finding, ...]) -> None:
        """Take in findings that were made elsewhere."""
        self._found.update(dict.fromkeys(findings))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, in the order in which they were found."""
        return tuple(self._found)


def listed(values: Iterable[str]) -> str:
    """Write names as reports do: sorted, and no more than some."""
    names = sorted(values)
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "") or "none"
