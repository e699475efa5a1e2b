"""What the renderings for machines of a CI share: how much a finding weighs, its words, its file.

SARIF, JUnit, annotations and the job summary are read by different people of one pull request;
they must not disagree on what counts.
"""

import re
from typing import Final, Literal

from verifier.core.demand import ALWAYS
from verifier.core.finding import Finding
from verifier.core.outcome import Result
from verifier.core.printable import printable
from verifier.core.value import frozen

Weight = Literal["error", "warning", "note"]

#: Kinds of which a finding's path names a part of the subject that is no file of its own.
_WITHIN: Final = ("commit", "image", "proof", "receipt", "registry", "release", "runtime")
#: Facets of a composition whose findings name files; others name stages or components.
_FILES: Final = ("final-stage", "modes", "unlisted", "content", "input")
_GIT: Final = re.compile(r"git:(.+)@(?:[0-9a-f]{40}|[0-9a-f]{64})(?::(.*))?", re.DOTALL)


@frozen
class Site:
    """Where somebody has to look: a file as it was named, and the part inside of it."""

    file: str
    part: str | None = None


def weight(finding: Finding, item: Result) -> Weight:
    """Say how much a finding weighs: error says no, warning leaves open, a note does not count."""
    if finding.code in item.waived:
        return "note"
    if finding.row.outcome == "rejected":
        return "error"
    return "warning" if finding.row.facet in item.demanded | ALWAYS else "note"


def told(finding: Finding) -> str:
    """Say all of a finding in sentences, its code aside."""
    parts = [finding.row.title]
    if finding.expected:
        parts.append(f"expected {finding.expected}")
    if finding.got:
        parts.append(f"got {finding.got}")
    if finding.cause:
        parts.append(f"cause: {finding.cause}")
    return printable(f"{'; '.join(parts)}. You may: {finding.remedy}")


def site(finding: Finding, item: Result) -> Site:
    """Say in which file a finding is.

    A path below a tree is joined to the folder that was given; one inside of an archive, an image
    or a document is a part of that.
    """
    name, path = item.subject.name, finding.where.path
    if path in (None, name):
        return Site(file=_file(name))
    assert path is not None
    if item.kind in _WITHIN:
        return Site(file=_file(name), part=printable(path))
    if item.kind in ("composition", "tree"):
        if finding.row.facet not in _FILES or name.startswith(("tar:", "zip:")):
            return Site(file=_file(name), part=printable(path))
        return Site(file=_below(_file(name), printable(path)))
    return Site(file=printable(path))


def _file(name: str) -> str:
    """Return the path that a subject's name stands for: of a commit, that in its repository."""
    found = _GIT.fullmatch(name)
    if found is None:
        return _plain(printable(name))
    return _below(_plain(printable(found[1])), printable(found[2] or ""))


def _below(folder: str, path: str) -> str:
    if not path:
        return folder
    return path if folder == "." else f"{folder.rstrip('/')}/{path}"


def _plain(path: str) -> str:
    return path.removeprefix("./") or "."
