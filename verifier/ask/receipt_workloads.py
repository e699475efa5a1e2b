"""The normal forms of the workloads that a receipt names, out of its folder of evidence (B10)."""

from collections.abc import Iterator
from typing import Any

from verifier.checks.receipt.document.normal_forms import NoFormError, normalised
from verifier.core.limits import WORKLOAD_BYTES
from verifier.core.value import frozen
from verifier.sources.evidence_folder import EvidenceFolder


@frozen
class NormalForms:
    """By digest of the workload and name of the form: the digest of the form, or why none is."""

    found: dict[tuple[str, str], str]
    lacking: dict[tuple[str, str], str]


def normal_forms(workloads: Any, folder: EvidenceFolder | None) -> NormalForms:
    """Compute every form that is named; `workloads` is as the document gave it.

    Raises `UnavailableError` for a file that cannot be read, or that changes meanwhile.
    """
    forms = NormalForms(found={}, lacking={})
    if folder is None:
        return forms
    for source, form in _named(workloads):
        try:
            forms.found[source, form] = normalised(_bytes(folder, source), form)
        except NoFormError as error:
            forms.lacking[source, form] = str(error)
    return forms


def _named(workloads: Any) -> Iterator[tuple[str, str]]:
    """Return digest and form of what names both; what is malformed is told by its reader."""
    for each in workloads if isinstance(workloads, list) else ():
        source = each.get("source") if isinstance(each, dict) else None
        form = each.get("normalisation") if isinstance(each, dict) else None
        digest = source.get("sha256") if isinstance(source, dict) else None
        if isinstance(digest, str) and isinstance(form, str):
            yield digest, form


def _bytes(folder: EvidenceFolder, source: str) -> bytes:
    """Read the file of that digest. Raises `NoFormError` if it is not there, or too large."""
    for name, pin in sorted(folder.pins.items()):
        if pin.sha256 == source:
            if (pin.length or 0) > WORKLOAD_BYTES:
                raise NoFormError(f"{name} is larger than {WORKLOAD_BYTES:,} bytes")
            return b"".join(folder.pieces(name, pinned=pin))
    raise NoFormError("no file of the folder has its digest")
