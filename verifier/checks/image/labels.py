"""Labels of an image against what was computed from its bytes: compared, never trusted.

A label is text that whoever built the image chose; the configuration's digest covers it, and that
says nothing about whether it is true. `org.opencontainers.image.revision` (OCI annotations) names
a commit of *some* repository, so another one is worth knowing and no contradiction. Labels of ours
say what pinproof computes, so one that differs is a lie or a mistake:

    org.pinproof.helper.<lineage>        the version of a helper, such as v6
    org.pinproof.composition.<name>      the stage at which a composition stands
    org.pinproof.root                    the typed digest of the merged root, tree:sha256:…
"""

from collections.abc import Iterator, Mapping
from typing import Final

from verifier.core.finding import Finding, Where
from verifier.core.printable import printable
from verifier.core.value import frozen

REVISION: Final = "org.opencontainers.image.revision"
OURS: Final = "org.pinproof."
HELPER: Final = f"{OURS}helper."
COMPOSITION: Final = f"{OURS}composition."
ROOT: Final = f"{OURS}root"
_SHOWN: Final = 120


@frozen
class Recomputed:
    """What was computed from the bytes of an image.

    `revisions` are commits that the checked files were proven to follow from, `helpers` the
    versions of helpers by lineage, `stages` those of compositions by name, `root` the typed digest
    of the merged root. What was not computed is empty or None, and then nothing is compared.
    """

    revisions: frozenset[str] = frozenset()
    helpers: tuple[tuple[str, str], ...] = ()
    stages: tuple[tuple[str, str], ...] = ()
    root: str | None = None


def compared(labels: Mapping[str, str], found: Recomputed) -> tuple[Finding, ...]:
    """Return a finding for every label that says something else than the bytes do."""
    known = {
        **{HELPER + name: version for name, version in found.helpers},
        **{COMPOSITION + name: stage for name, stage in found.stages},
        **({ROOT: found.root} if found.root else {}),
    }
    findings = [
        Finding(
            code="image-label-contradicts",
            where=Where(path=printable(key)),
            expected=f"{known[key]}, as computed",
            got=_shown(said),
            remedy="believe the bytes and not the label; ask its publisher which of the two is "
            "meant",
        )
        for key, said in sorted(labels.items())
        if key in known and said != known[key]
    ]
    said = labels.get(REVISION)
    if said is not None and found.revisions and said not in found.revisions:
        findings.append(
            Finding(
                code="image-label-revision",
                where=Where(path=REVISION),
                expected=" or ".join(sorted(found.revisions)),
                got=_shown(said),
                cause="the label may be about the repository that the image was built from",
                remedy="nothing, if the label is about another repository; it proves nothing",
            )
        )
    return tuple(findings)


def unproven(labels: Mapping[str, str], found: Recomputed) -> tuple[str, ...]:
    """Say which labels of interest nothing was computed for, in words for *not proven*."""
    return tuple(_unproven(labels, found))


def _unproven(labels: Mapping[str, str], found: Recomputed) -> Iterator[str]:
    known = {HELPER + name for name, _ in found.helpers}
    known |= {COMPOSITION + name for name, _ in found.stages}
    known |= {ROOT} if found.root else set()
    for key, said in sorted(labels.items()):
        if key == REVISION and not found.revisions:
            yield f"that the image was made from revision {_shown(said)}, as a label says"
        elif key.startswith(OURS) and key not in known:
            yield f"what the label {printable(key)[:_SHOWN]} says: {_shown(said)}"


def _shown(said: str) -> str:
    return printable(said)[:_SHOWN] or "nothing"
